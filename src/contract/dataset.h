// The data sets of a contract: read once, checked against the model, and laid down in a pack file
// that workers read in place. Splits what must stay apart by type: only a TuningSet can be handed
// to the search; a HoldoutSet gives its samples only to the holder of an Opening, which the ledger
// alone makes.
//
//   on disk    (a) <sample>.npz each  (b) inputs.npz, axis 0 = samples  (c)
//   test_data_set_N/input_K.pb; labels.csv beside pack       raw little-endian tensors in C order,
//   each 64-byte aligned
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "contract/contract.h"
#include "model/onnx_model.h"

namespace fiel {

/// Where one tensor of one sample lies in a pack file.
struct PackedTensor {
  std::int64_t offset = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
};

struct Sample {
  std::string id;      // file stem, or the row's name in labels.csv, or "000017"
  std::string label;   // as written in labels.csv; empty if none
  std::string slice;   // empty: no slice
  std::string group;   // empty: every sample is a group of its own
  std::string digest;  // over names, dtypes, shapes and bytes of its inputs
  std::map<std::string, PackedTensor> inputs;
};

/// What counts as evidence: samples of one group depend on each other and are one unit; a sample of
/// no group is its own.
struct Units {
  std::int64_t all = 0;
  std::map<std::string, std::int64_t> by_slice;
};

struct SampleSet {
  std::filesystem::path source;  // the user's folder (evaluators get it)
  std::filesystem::path pack;
  std::vector<Sample> samples;
  std::string digest;  // over all samples' contents and labels, not their names or order
  bool has_labels = false;
  /// Worth a word, no reason to stop: "12 of 400 samples repeat another's content".
  std::vector<std::string> warnings;

  /// Counts per slice name; "" holds those without one.
  std::map<std::string, std::int64_t> slice_counts() const;
  Units units() const;
};

class TuningSet {
 public:
  explicit TuningSet(SampleSet set) : set_(std::move(set)) {}
  const SampleSet& get() const { return set_; }

 private:
  SampleSet set_;
};

/// Proof that the ledger has recorded an opening of the hold-out with this digest.
class Opening {
 public:
  const std::string& holdout_digest() const { return holdout_digest_; }
  int number() const { return number_; }  // 1-based, over all runs of this user

 private:
  friend class Ledger;  // decide/ledger.h
  Opening(std::string digest, int number) : holdout_digest_(std::move(digest)), number_(number) {}
  std::string holdout_digest_;
  int number_;
};

class HoldoutSet {
 public:
  explicit HoldoutSet(SampleSet set) : set_(std::move(set)) {}
  const std::string& digest() const { return set_.digest; }
  std::int64_t size() const { return static_cast<std::int64_t>(set_.samples.size()); }
  std::map<std::string, std::int64_t> slice_counts() const { return set_.slice_counts(); }
  Units units() const { return set_.units(); }
  const SampleSet& samples(
      const Opening& opening) const;  // FIEL_CHECKs that the opening is for this set

 private:
  friend class RegressionSet;
  SampleSet set_;
};

/// A hold-out as `verify` sees it: without an opening, since nothing is proven on it. It takes the HoldoutSet away, so that
/// nobody can do both with one.
class RegressionSet {
 public:
  explicit RegressionSet(HoldoutSet&& holdout) : set_(std::move(holdout.set_)) {}
  const SampleSet& get() const { return set_; }

 private:
  SampleSet set_;
};

struct DataSets {
  std::optional<SampleSet> calibration;
  TuningSet tuning;
  HoldoutSet holdout;
  std::vector<std::string>
      notes;  // what was decided for the user: "data was split by content: ..."
};

/// What a command that has no business with the hold-out may have.
struct SearchSets {
  std::optional<SampleSet> calibration;
  TuningSet tuning;
  std::vector<std::string> notes;
};

/// Reads, checks and packs all sets of the contract into `pack_folder` (calibration.pack,
/// tuning.pack, holdout.pack). Refused, with set, sample, tensor and what to do: empty sets;
/// samples that two sets share (by content); inputs that are missing, extra, of another dtype, or
/// of a shape that the model or the contract's traffic shapes do not take; integer values outside a
/// declared range; labels.csv with unknown, missing or repeated samples; a contract's slice that no
/// sample has; built-in evaluators that need labels without any; a traffic shape that no tuning
/// sample has.
///
/// `data.samples` is one folder, split by the hash of each sample's content (of its group's name
/// where it has one): below 0.1 calibration, below 0.5 tuning, else hold-out. Then `source` is a
/// folder of ours with that set's labels.csv.
///
/// Packs that are there are used again as long as the user's files have the sizes and times that
/// they were made from; else the files are read again, and other content than before is an error: a
/// run keeps its data.
Result<DataSets> read_data_sets(const Contract& contract, const OnnxModel& model,
                                const std::filesystem::path& pack_folder);

/// The same without a look at the hold-out (`check`, `bench`; of `data.samples` all is hashed, its
/// share is not kept).
Result<SearchSets> read_search_sets(const Contract& contract, const OnnxModel& model,
                                    const std::filesystem::path& pack_folder);

/// One set on its own (used by `init` and by tests); the pack's stem names the set in messages.
Result<SampleSet> read_sample_set(const std::filesystem::path& folder, const OnnxModel& model,
                                  const Contract& contract, const std::filesystem::path& pack);

/// The traffic's shapes, each with every input: the contract's, or the one shape that all tuning
/// samples share (of one step, with [[model.state]]). An input with a dynamic axis that neither
/// fixes is an error that names it.
Result<std::vector<TrafficShape>> traffic_shapes(const Contract& contract, const OnnxModel& model,
                                                 const SampleSet& tuning);

/// Is a sample of that shape of the traffic? Its axis of steps does not count, nor a state that it
/// leaves out.
bool is_of_shape(const Contract& contract, const Sample& sample, const TrafficShape& shape);

}  // namespace fiel
