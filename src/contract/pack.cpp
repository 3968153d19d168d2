#include "contract/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPackFormat = 1;
constexpr std::int64_t kAlignment =
    64;  // a cache line, and what engines ask of tensors that they read in place

Json to_json(const Sample& sample) {
  Json inputs = Json::object();
  for (const auto& [name, tensor] : sample.inputs) {
    inputs[name] = {
        {"offset", tensor.offset}, {"dtype", to_string(tensor.dtype)}, {"shape", tensor.shape}};
  }
  return {{"id", sample.id},       {"label", sample.label},   {"slice", sample.slice},
          {"group", sample.group}, {"digest", sample.digest}, {"inputs", std::move(inputs)}};
}

/// Throws nlohmann's exceptions on what we did not write; read_pack_record catches them.
Sample sample_from(const Json& json, std::int64_t pack_bytes, bool& good) {
  Sample sample{json.at("id"),    json.at("label"),  json.at("slice"),
                json.at("group"), json.at("digest"), {}};
  for (const auto& [name, entry] : json.at("inputs").items()) {
    const auto dtype = parse_dtype(entry.at("dtype").get<std::string>());
    PackedTensor tensor{entry.at("offset"), dtype.value_or(DType::kFloat32), entry.at("shape")};
    const auto count = element_count(tensor.shape);
    good = good && dtype && count && tensor.offset >= 0 && tensor.offset % kAlignment == 0 &&
           tensor.offset + *count * static_cast<std::int64_t>(element_size(tensor.dtype)) <=
               pack_bytes;
    sample.inputs.emplace(name, std::move(tensor));
  }
  return sample;
}

std::optional<PackRecord> record_from(const Json& json, const fs::path& pack) {
  if (json.at("format") != kPackFormat) return std::nullopt;
  PackRecord record;
  record.key = json.at("key");
  record.pack_bytes = json.at("pack_bytes");
  for (const Json& file : json.at("files"))
    record.files.push_back({file.at(0), file.at(1), file.at(2)});
  SampleSet& set = record.set;
  set.pack = pack;
  set.digest = json.at("digest");
  set.has_labels = json.at("has_labels");
  set.warnings = json.at("warnings").get<std::vector<std::string>>();
  std::error_code code;
  bool good = static_cast<std::int64_t>(fs::file_size(pack, code)) == record.pack_bytes && !code;
  for (const Json& sample : json.at("samples"))
    set.samples.push_back(sample_from(sample, record.pack_bytes, good));
  if (!good) return std::nullopt;
  return record;
}

}  // namespace

fs::path pack_record_path(const fs::path& pack) { return fs::path(pack.string() + ".json"); }

Result<PackWriter> PackWriter::create(const fs::path& path) {
  const fs::path temporary(path.string() + ".partial");
  Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) return std::unexpected(file_error("write", temporary, errno));
  return PackWriter(path, temporary, std::move(file));
}

PackWriter::~PackWriter() {
  if (file_.is_open()) ::unlink(temporary_.c_str());
}

Result<> PackWriter::write(const std::byte* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file_.get(), data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(file_error("write", temporary_, errno));
    data += written;
    size -= static_cast<std::size_t>(written);
    bytes_ += written;
  }
  return {};
}

Result<PackedTensor> PackWriter::add(const Tensor& tensor) {
  constexpr std::array<std::byte, kAlignment> kZeros{};
  FIEL_TRY(write(kZeros.data(),
                 static_cast<std::size_t>((kAlignment - bytes_ % kAlignment) % kAlignment)));
  PackedTensor packed{bytes_, tensor.dtype, tensor.shape};
  FIEL_TRY(write(tensor.bytes.data(), tensor.bytes.size()));
  return packed;
}

Result<> PackWriter::commit() {
  if (::fsync(file_.get()) != 0) return std::unexpected(file_error("write", temporary_, errno));
  return commit_unsynced();
}

Result<> PackWriter::commit_unsynced() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    return std::unexpected(file_error("write", path_, errno));
  file_.close();
  return {};
}

Result<> write_pack_record(const PackRecord& record) {
  const SampleSet& set = record.set;
  Json files = Json::array();
  for (const SourceFile& file : record.files)
    files.push_back({file.name, file.bytes, file.modified_ns});
  Json samples = Json::array();
  for (const Sample& sample : set.samples) samples.push_back(to_json(sample));
  const Json json = {{"format", kPackFormat},         {"key", record.key},
                     {"files", std::move(files)}, {"pack_bytes", record.pack_bytes},
                     {"digest", set.digest},      {"has_labels", set.has_labels},
                     {"warnings", set.warnings},  {"samples", std::move(samples)}};
  return write_atomic(pack_record_path(set.pack), dump_json(json) + "\n");
}

std::optional<PackRecord> read_pack_record(const fs::path& pack) {
  const auto text = read_text(pack_record_path(pack));
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (!json) return std::nullopt;
  try {
    return record_from(*json, pack);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace fiel
