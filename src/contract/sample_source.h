// The samples of a user's folder, one at a time, whichever of the three layouts they have. Believes
// nothing of the files and checks nothing against a contract. Memory: one sample; a stacked file is
// read in pieces.
//
//   (a) <sample>.npz each   (b) inputs.npz, axis 0 = samples   (c) test_data_set_N/input_K.pb
//   labels.csv beside
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "contract/labels.h"
#include "model/onnx_model.h"

namespace fiel {

/// Enough to see cheaply that a folder is still what was read.
struct SourceFile {
  std::string name;  // relative to the folder
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const SourceFile&) const = default;
};

struct RawSample {
  std::string id;
  std::filesystem::path file;
  std::map<std::string, Tensor> inputs;
};

class SampleSource {
 public:
  /// Finds the layout, the samples' names and their rows in labels.csv, which must match each
  /// other.
  static Result<std::unique_ptr<SampleSource>> open(const std::filesystem::path& folder,
                                                    const Contract& contract,
                                                    const OnnxModel& model);
  virtual ~SampleSource() = default;

  std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }
  const std::optional<Labels>& labels() const { return labels_; }
  /// The row of sample `index`, null without labels.csv.
  const LabelRow* row(std::int64_t index) const;
  /// Sample `index`; asked for in order, 0 to size() - 1.
  virtual Result<RawSample> read(std::int64_t index) = 0;

 protected:
  Result<> match_labels();

  std::filesystem::path folder_;
  std::vector<std::string> ids_;
  std::optional<Labels> labels_;
  std::map<std::string, std::size_t> row_of_;
};

/// Files that make up the data set of `folder`, sorted by name.
Result<std::vector<SourceFile>> list_source_files(const std::filesystem::path& folder);

}  // namespace fiel
