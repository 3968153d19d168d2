#include "contract/sample_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "base/files.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "contract/check_model.h"
#include "model/npy.h"
#include "model/npz_reader.h"
#include "model/onnx_tensor.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxSampleBytes = std::int64_t{4} << 30;
constexpr std::int64_t kMaxStackBytes = std::int64_t{1} << 40;
constexpr std::string_view kStack = "inputs.npz";
constexpr std::string_view kTestFolder = "test_data_set_";
constexpr std::size_t kNamed = 5;  // so many are named in a message, the rest is counted

std::string some_of(const std::vector<std::string>& names) {
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
  const std::string more =
      names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : "";
  return fmt::format("'{}'{}", fmt::join(first, "', '"), more);
}

std::string group_column(const Contract& contract) {
  for (const TaskRule& task : contract.accuracy.tasks) {
    if (!task.group.empty()) return task.group;
  }
  return "";
}

/// What lies in the folder itself.
struct Listing {
  std::vector<std::string> npz;                             // without inputs.npz, sorted
  std::vector<std::pair<std::int64_t, std::string>> tests;  // N and its folder, sorted by N
  bool has_stack = false;
  bool has_labels = false;
  std::vector<std::string> others;
};

Result<Listing> list_folder(const fs::path& folder) {
  Listing listing;
  std::error_code code;
  for (auto it = fs::directory_iterator(folder, code); !code && it != fs::directory_iterator();
       it.increment(code)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    std::int64_t number = 0;
    const char* end = name.data() + name.size();
    if (name == kStack)
      listing.has_stack = true;
    else if (name == "labels.csv")
      listing.has_labels = true;
    else if (name.starts_with('.'))
      continue;
    else if (name.ends_with(".npz") && it->is_regular_file(ignored))
      listing.npz.push_back(name);
    else if (name.starts_with(kTestFolder) && it->is_directory(ignored) &&
             std::from_chars(name.data() + kTestFolder.size(), end, number).ptr == end)
      listing.tests.emplace_back(number, name);
    else
      listing.others.push_back(name);
  }
  if (code)
    return refuse(fmt::format("cannot read the folder {}: {}", folder.string(), code.message()),
                  "check the path and its permissions");
  std::ranges::sort(listing.npz);
  std::ranges::sort(listing.tests);
  std::ranges::sort(listing.others);
  return listing;
}

Result<> check_layout(const fs::path& folder, const Listing& listing) {
  constexpr const char* kLayouts =
      "a data set is <sample>.npz files, one inputs.npz, or test_data_set_N folders "
      "(docs/contract.md)";
  const int layouts =
      (listing.has_stack ? 1 : 0) + (listing.npz.empty() ? 0 : 1) + (listing.tests.empty() ? 0 : 1);
  if (layouts > 1) {
    return refuse(fmt::format("{} mixes layouts: {} .npz files{}, {} test_data_set folders",
                              folder.string(), listing.npz.size(),
                              listing.has_stack ? " beside inputs.npz" : "", listing.tests.size()),
                  kLayouts);
  }
  if (layouts == 1) return {};
  const std::string found =
      listing.others.empty() ? "" : fmt::format(" (found only {})", some_of(listing.others));
  return refuse(fmt::format("{} has no samples{}", folder.string(), found), kLayouts);
}

class NpzFolder : public SampleSource {
 public:
  Result<> load(const Listing& listing) {
    for (const std::string& name : listing.npz) {
      const std::string id = name.substr(0, name.size() - 4);
      if (printable(id) != id || id.find_first_of("\n\t") != std::string::npos) {
        return refuse(
            fmt::format("{}: the file name {} is no text", folder_.string(), printable(name)),
            "rename it");
      }
      ids_.push_back(id);
    }
    return match_labels();
  }
  Result<RawSample> read(std::int64_t index) override {
    const std::string& id = ids_[static_cast<std::size_t>(index)];
    RawSample sample{id, folder_ / (id + ".npz"), {}};
    sample.inputs = FIEL_TRY(read_npz(sample.file, kMaxSampleBytes));
    return sample;
  }
  friend class fiel::SampleSource;
};

class StackedFile : public SampleSource {
 public:
  Result<> load(const Contract& contract, const OnnxModel& model) {
    file_ = folder_ / kStack;
    reader_.emplace(FIEL_TRY(NpzReader::open(file_, kMaxStackBytes)));
    const auto wrong = [this](std::string message, std::string hint) {
      return refuse(fmt::format("{}: {}", file_.string(), message), std::move(hint));
    };
    std::optional<std::int64_t> count;
    std::string first;
    for (const std::string& name : reader_->names()) {
      Column column{FIEL_TRY(reader_->open_array(name)), {}};
      const NpyHeader& header = column.array.header();
      if (header.shape.empty())
        return wrong(fmt::format("array '{}' is a single number", name),
                     "axis 0 must be the samples");
      if (header.fortran_order && header.shape.size() > 1) {
        return wrong(
            fmt::format("array '{}' is in Fortran order, so its samples cannot be read one by one",
                        name),
            "save numpy.ascontiguousarray(array)");
      }
      if (!count) {
        count = header.shape[0];
        first = name;
      }
      if (header.shape[0] != *count) {
        return wrong(fmt::format("array '{}' has {} samples, but '{}' has {}", name,
                                 header.shape[0], first, *count),
                     "axis 0 is the samples in all arrays");
      }
      column.shape = sample_shape(contract, model, name, header.shape);
      columns_.emplace(name, std::move(column));
    }
    if (count.value_or(0) == 0)
      return wrong("it has no samples", "axis 0 of every array is the samples");
    return name_samples(*count);
  }

  Result<RawSample> read(std::int64_t index) override {
    FIEL_CHECK(index == next_);
    ++next_;
    RawSample sample{ids_[static_cast<std::size_t>(index)], file_, {}};
    for (auto& [name, column] : columns_) {
      const NpyHeader& header = column.array.header();
      Tensor tensor{header.dtype, column.shape, {}};
      tensor.bytes.resize(static_cast<std::size_t>(header.data_bytes / header.shape[0]));
      FIEL_TRY(column.array.read(tensor.bytes));
      sample.inputs.emplace(name, std::move(tensor));
    }
    return sample;
  }
  friend class fiel::SampleSource;

 private:
  struct Column {
    NpzArray array;
    Shape shape;  // of one sample
  };

  /// A sample is a batch of one, unless the stack has an axis more than that, which then was only
  /// for stacking.
  static Shape sample_shape(const Contract& contract, const OnnxModel& model,
                            const std::string& name, const Shape& stack) {
    Shape shape(stack.begin() + 1, stack.end());
    const ModelPort* port = find_port(model.inputs, name);
    const bool has_steps = !contract.state.empty() && !is_state_input(contract, name);
    if (port != nullptr && port->dims && stack.size() == port->dims->size() + (has_steps ? 2 : 1))
      return shape;
    shape.insert(shape.begin(), 1);
    return shape;
  }

  Result<> name_samples(std::int64_t count) {
    if (!labels_) {
      for (std::int64_t i = 0; i < count; ++i) ids_.push_back(fmt::format("{:06}", i));
      return {};
    }
    for (const LabelRow& row : labels_->rows) ids_.push_back(row.sample);
    if (size() != count) {
      return refuse(fmt::format("{} has {} rows, but {} has {} samples", labels_->file.string(),
                                size(), file_.string(), count),
                    "row i of labels.csv is sample i of inputs.npz");
    }
    return match_labels();
  }

  fs::path file_;
  std::optional<NpzReader> reader_;  // before columns_: it must outlive them
  std::map<std::string, Column> columns_;
  std::int64_t next_ = 0;
};

class OnnxTests : public SampleSource {
 public:
  Result<> load(const Listing& listing, const OnnxModel& model) {
    for (const ModelPort& port : model.inputs) inputs_.push_back(port.name);
    for (const auto& [number, name] : listing.tests) ids_.push_back(name);
    return match_labels();
  }
  Result<RawSample> read(std::int64_t index) override {
    const std::string& id = ids_[static_cast<std::size_t>(index)];
    RawSample sample{id, folder_ / id, {}};
    std::error_code code;
    if (const fs::path extra = sample.file / fmt::format("input_{}.pb", inputs_.size());
        fs::exists(extra, code)) {
      return refuse(
          fmt::format("{} is one more than the model's {} inputs", extra.string(), inputs_.size()),
          "input_K.pb is the model's input K, counted from 0");
    }
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const fs::path file = sample.file / fmt::format("input_{}.pb", k);
      if (!fs::exists(file, code)) continue;  // whether it may be absent is the contract's question
      NamedTensor read = FIEL_TRY(read_onnx_tensor(file));
      // Some exporters leave inputs out that the graph does not use; then the name is right and the
      // number is not.
      const bool is_named = std::ranges::find(inputs_, read.name) != inputs_.end();
      const std::string& name = is_named ? read.name : inputs_[k];
      if (!sample.inputs.emplace(name, std::move(read.tensor)).second) {
        return refuse(fmt::format("{} is input '{}' a second time", file.string(), name),
                      "input_K.pb is the model's input K");
      }
    }
    return sample;
  }
  friend class fiel::SampleSource;

 private:
  std::vector<std::string> inputs_;
};

}  // namespace

const LabelRow* SampleSource::row(std::int64_t index) const {
  if (!labels_) return nullptr;
  return &labels_->rows[row_of_.at(ids_[static_cast<std::size_t>(index)])];
}

Result<> SampleSource::match_labels() {
  if (!labels_) return {};
  const std::set<std::string> ids(ids_.begin(), ids_.end());
  for (std::size_t i = 0; i < labels_->rows.size(); ++i) {
    const LabelRow& row = labels_->rows[i];
    if (!ids.contains(row.sample)) {
      const bool has_ending = row.sample.ends_with(".npz");
      return refuse(fmt::format("{}:{}: there is no sample '{}'", labels_->file.string(), row.line,
                                row.sample),
                    has_ending ? "write the name without .npz" : did_you_mean(row.sample, ids_));
    }
    row_of_[row.sample] = i;
  }
  std::vector<std::string> missing;
  for (const std::string& id : ids_) {
    if (!row_of_.contains(id)) missing.push_back(id);
  }
  if (missing.empty()) return {};
  return refuse(
      fmt::format("{} has no row for sample {}", labels_->file.string(), some_of(missing)),
      "add a row for each, or move such samples away");
}

Result<std::unique_ptr<SampleSource>> SampleSource::open(const fs::path& folder,
                                                         const Contract& contract,
                                                         const OnnxModel& model) {
  const Listing listing = FIEL_TRY(list_folder(folder));
  FIEL_TRY(check_layout(folder, listing));
  std::optional<Labels> labels;
  if (listing.has_labels)
    labels = FIEL_TRY(read_labels(folder / "labels.csv", group_column(contract)));
  else if (const std::string column = group_column(contract); !column.empty()) {
    return refuse(fmt::format("{} has no labels.csv, but a task groups by its column '{}'",
                              folder.string(), column),
                  "add one with sample,label and that column");
  }
  const auto prepare = [&](auto source) {
    source->folder_ = folder;
    source->labels_ = std::move(labels);
    return source;
  };
  if (listing.has_stack) {
    auto source = prepare(std::make_unique<StackedFile>());
    FIEL_TRY(source->load(contract, model));
    return source;
  }
  if (!listing.tests.empty()) {
    auto source = prepare(std::make_unique<OnnxTests>());
    FIEL_TRY(source->load(listing, model));
    return source;
  }
  auto source = prepare(std::make_unique<NpzFolder>());
  FIEL_TRY(source->load(listing));
  return source;
}

Result<std::vector<SourceFile>> list_source_files(const fs::path& folder) {
  const Listing listing = FIEL_TRY(list_folder(folder));
  std::vector<std::string> names = listing.npz;
  if (listing.has_stack) names.emplace_back(kStack);
  if (listing.has_labels) names.emplace_back("labels.csv");
  std::error_code code;
  for (const auto& [number, test] : listing.tests) {
    for (auto it = fs::directory_iterator(folder / test, code);
         !code && it != fs::directory_iterator(); it.increment(code)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with("input_") && name.ends_with(".pb")) names.push_back(test + "/" + name);
    }
  }
  std::ranges::sort(names);
  std::vector<SourceFile> files;
  for (const std::string& name : names) {
    struct stat status{};
    const fs::path path = folder / name;
    if (::stat(path.c_str(), &status) != 0) return std::unexpected(file_error("read", path, errno));
    files.push_back({name, status.st_size,
                     std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  return files;
}

}  // namespace fiel
