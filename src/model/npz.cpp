#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <list>

#include "base/files.h"
#include "model/npy.h"
#include "model/npz_reader.h"

namespace fiel {
namespace {

constexpr std::int64_t kMaxEntries = 10'000;
// Deflate's best ratio is 1032:1 (RFC 1951: 258 bytes in two bits); an entry that claims more is a
// bomb or a lie.
constexpr std::uint64_t kMaxDeflateRatio = 1032;
constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kArchivePieceBytes = 1 << 20;

struct Entry {
  std::uint64_t index = 0;
  std::int64_t size = 0;
};

struct Archive {
  explicit Archive(zip_t* opened) : zip(opened) {}
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() { zip_discard(zip); }
  zip_t* zip;
};

std::string open_error(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

std::unexpected<Error> refuse(const std::filesystem::path& path, std::string message) {
  return fail(ErrorKind::kContract, fmt::format("{}: {}", path.string(), message),
              "write it with numpy.savez or numpy.savez_compressed");
}

Result<std::int64_t> check_sizes(const zip_stat_t& stat, std::uint64_t file_bytes) {
  const auto wrong = [](std::string message) {
    return fail(ErrorKind::kContract, std::move(message));
  };
  constexpr std::uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                    ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) return wrong("its directory entry is incomplete");
  if (stat.encryption_method != ZIP_EM_NONE) return wrong("it is encrypted");
  if (stat.comp_size > file_bytes) return wrong("it claims more bytes than the file has");
  if (stat.comp_method == ZIP_CM_STORE) {
    if (stat.size != stat.comp_size) return wrong("it is stored, yet of two sizes");
  } else if (stat.comp_method == ZIP_CM_DEFLATE) {
    if (stat.size / kMaxDeflateRatio > stat.comp_size)
      return wrong("it claims to unpack to more than it can");
  } else {
    return wrong(fmt::format("its compression method {} is not deflate", stat.comp_method));
  }
  return static_cast<std::int64_t>(std::min<std::uint64_t>(stat.size, INT64_MAX));
}

}  // namespace

struct NpzArray::Impl {
  zip_file_t* file = nullptr;
  std::string name;                  // of archive and array, for messages
  std::int64_t remaining_bytes = 0;  // of the entry, the header included

  ~Impl() {
    if (file != nullptr) zip_fclose(file);
  }

  Result<> read(std::span<std::byte> target) {
    if (static_cast<std::int64_t>(target.size()) > remaining_bytes) return wrong("it ends early");
    while (!target.empty()) {
      const auto got = zip_fread(file, target.data(), target.size());
      if (got <= 0) return wrong(got < 0 ? zip_file_strerror(file) : "it ends early");
      target = target.subspan(static_cast<std::size_t>(got));
      remaining_bytes -= got;
    }
    if (remaining_bytes > 0) return {};
    // libzip compares the checksum only when it is asked for a byte behind the last one.
    std::byte beyond{};
    const auto got = zip_fread(file, &beyond, 1);
    if (got < 0) return wrong(zip_file_strerror(file));
    if (got > 0) return wrong("it is longer than announced");
    return {};
  }

  std::unexpected<Error> wrong(std::string_view message) const {
    return fail(ErrorKind::kContract, fmt::format("{}: {}", name, message), "write the file again");
  }
};

NpzArray::NpzArray(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NpzArray::NpzArray(NpzArray&&) noexcept = default;
NpzArray& NpzArray::operator=(NpzArray&&) noexcept = default;
NpzArray::~NpzArray() = default;

Result<> NpzArray::read(std::span<std::byte> target) { return impl_->read(target); }

struct NpzReader::Impl {
  std::filesystem::path path;
  std::unique_ptr<Archive> archive;
  std::map<std::string, Entry> entries;

  Result<> add_entry(std::uint64_t index, std::uint64_t file_bytes) {
    zip_stat_t stat;
    // RAW: names are taken as the bytes that they are. NumPy writes UTF-8.
    if (zip_stat_index(archive->zip, index, ZIP_FL_ENC_RAW, &stat) != 0) {
      return refuse(path, fmt::format("entry {} cannot be read", index));
    }
    const std::string_view name = (stat.valid & ZIP_STAT_NAME) != 0 ? stat.name : "";
    if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) {
      return refuse(path, fmt::format("its entry '{}' is no named .npy array", name));
    }
    const std::string array(name.substr(0, name.size() - kSuffix.size()));
    const auto size = check_sizes(stat, file_bytes);
    if (!size) return refuse(path, fmt::format("array '{}': {}", array, size.error().message));
    if (!entries.emplace(array, Entry{index, *size}).second) {
      return refuse(path, fmt::format("array '{}' is in it twice", array));
    }
    return {};
  }
};

NpzReader::NpzReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;
NpzReader::~NpzReader() = default;

Result<NpzReader> NpzReader::open(const std::filesystem::path& path, std::int64_t max_bytes) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("cannot read {}: no such file", path.string()));
  }
  const auto file_bytes = std::filesystem::file_size(path, code);
  int zip_code = 0;
  zip_t* zip = code ? nullptr : zip_open(path.c_str(), ZIP_RDONLY, &zip_code);
  if (zip == nullptr)
    return refuse(path, fmt::format("not an .npz file: {}", open_error(zip_code)));

  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->archive = std::make_unique<Archive>(zip);
  const std::int64_t count = zip_get_num_entries(zip, 0);
  if (count > kMaxEntries) return refuse(path, fmt::format("it has {} entries", count));
  std::int64_t rest = max_bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    FIEL_TRY(impl->add_entry(static_cast<std::uint64_t>(i), file_bytes));
  }
  for (const auto& [name, entry] : impl->entries) {
    if (entry.size > rest) {
      return refuse(path, fmt::format("its arrays unpack to more than {} bytes", max_bytes));
    }
    rest -= entry.size;
  }
  return NpzReader(std::move(impl));
}

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : impl_->entries) names.push_back(name);
  return names;
}

bool NpzReader::has(const std::string& name) const { return impl_->entries.contains(name); }

Result<NpzArray> NpzReader::open_array(const std::string& name) const {
  const auto found = impl_->entries.find(name);
  if (found == impl_->entries.end())
    return refuse(impl_->path, fmt::format("it has no array '{}'", name));
  auto impl = std::make_unique<NpzArray::Impl>();
  impl->name = fmt::format("{}: array '{}'", impl_->path.string(), name);
  impl->remaining_bytes = found->second.size;
  impl->file = zip_fopen_index(impl_->archive->zip, found->second.index, 0);
  if (impl->file == nullptr) return impl->wrong(zip_strerror(impl_->archive->zip));

  NpzArray array(std::move(impl));
  auto header =
      read_npy_header([&array](std::span<std::byte> target) { return array.read(target); });
  if (!header) return std::unexpected(std::move(header).error().with_context(array.impl_->name));
  array.header_ = std::move(*header);
  if (array.header_.data_bytes != array.impl_->remaining_bytes) {
    return array.impl_->wrong(fmt::format(
        "{} {} takes {} bytes, but there are {}", to_string(array.header_.dtype),
        to_string(array.header_.shape), array.header_.data_bytes, array.impl_->remaining_bytes));
  }
  return array;
}

Result<Tensor> NpzReader::read_array(const std::string& name) const {
  NpzArray array = FIEL_TRY(open_array(name));
  Tensor tensor{array.header().dtype, array.header().shape, {}};
  tensor.bytes.resize(static_cast<std::size_t>(array.header().data_bytes));
  FIEL_TRY(array.read(tensor.bytes));
  if (array.header().fortran_order) to_c_order(tensor);
  return tensor;
}

Result<std::map<std::string, Tensor>> read_npz(const std::filesystem::path& path,
                                               std::int64_t max_bytes) {
  const NpzReader reader = FIEL_TRY(NpzReader::open(path, max_bytes));
  std::map<std::string, Tensor> arrays;
  for (const std::string& name : reader.names())
    arrays.emplace(name, FIEL_TRY(reader.read_array(name)));
  return arrays;
}

namespace {

// The archive is put together in memory and written at once: libzip's own files are written in small pieces.
class ArchiveInMemory {
 public:
  ArchiveInMemory() : target_(zip_source_buffer_create(nullptr, 0, 0, nullptr)) {
    if (target_ == nullptr) return;
    zip_ = zip_open_from_source(target_, ZIP_TRUNCATE, nullptr);
    if (zip_ != nullptr) zip_source_keep(target_);  // it outlives the archive
  }
  ArchiveInMemory(const ArchiveInMemory&) = delete;
  ArchiveInMemory& operator=(const ArchiveInMemory&) = delete;
  ~ArchiveInMemory() {
    if (zip_ != nullptr) zip_discard(zip_);
    if (target_ != nullptr) zip_source_free(target_);
  }

  /// The two parts must stay until close().
  bool add(const std::string& name, std::string_view header, std::span<const std::byte> data) {
    if (zip_ == nullptr) return false;
    // libzip only reads from them.
    const std::array<zip_buffer_fragment_t, 2> parts{{{reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
                                                      {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(data.data())), data.size()}}};
    zip_source_t* source = zip_source_buffer_fragment(zip_, parts.data(), data.empty() ? 1 : 2, 0);
    const std::int64_t index = zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return false;
    }
    const auto entry = static_cast<std::uint64_t>(index);
    zip_set_file_compression(zip_, entry, ZIP_CM_STORE, 0);
    // The first day that a zip file can name, so that equal arrays make equal files.
    zip_file_set_dostime(zip_, entry, 0, (1 << 5) | 1, 0);
    return true;
  }

  /// Hands over what is in it, piece by piece; it takes no more. False where libzip fails.
  Result<bool> close(const std::function<Result<>(std::span<const std::byte>)>& take) {
    if (zip_ == nullptr || zip_close(zip_) != 0) return false;
    zip_ = nullptr;
    if (zip_source_open(target_) != 0) return false;
    std::vector<std::byte> piece(kArchivePieceBytes);
    zip_int64_t got = 0;
    Result<> taken;
    while (taken && (got = zip_source_read(target_, piece.data(), piece.size())) > 0) {
      taken = take(std::span(piece).first(static_cast<std::size_t>(got)));
    }
    zip_source_close(target_);
    if (!taken) return std::unexpected(std::move(taken).error());
    return got == 0;
  }

 private:
  zip_source_t* target_;
  zip_t* zip_ = nullptr;
};

}  // namespace

Result<> write_npz(const std::filesystem::path& path, const std::map<std::string, TensorView>& arrays) {
  const auto cannot = [&path](std::string_view why) {
    return fail(ErrorKind::kEnvironment, fmt::format("cannot write {}: {}", path.string(), why),
                "is the disk full, or the folder read-only?");
  };
  std::list<std::string> headers;  // libzip reads them when the archive is closed
  ArchiveInMemory archive;
  for (const auto& [name, tensor] : arrays) {
    headers.push_back(format_npy_header(tensor.dtype, tensor.shape));
    if (!archive.add(name + std::string(kSuffix), headers.back(), tensor.bytes)) {
      return cannot(fmt::format("array {} can't be put into an archive", name));
    }
  }
  OverWriter file = FIEL_TRY(OverWriter::open(path));
  const bool whole = FIEL_TRY(archive.close([&file](std::span<const std::byte> piece) { return file.write(piece); }));
  if (!whole) return cannot("the archive can't be put together");
  return file.finish();
}

}  // namespace fiel
