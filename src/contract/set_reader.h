// From a folder of samples to checked, packed sets: the one loop that reads a user's data. Private
// to contract/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "contract/dataset.h"

namespace fiel {

/// A set that is wanted of a folder, and which samples belong to it.
struct WantedSet {
  std::string name;  // "tuning"
  std::filesystem::path pack;
  double from = 0.0;   // samples whose place on [0, 1) lies from here ...
  double below = 1.0;  // ... to here
};

enum class Splitting { kWhole, kByContent };

struct FolderOrder {
  std::filesystem::path folder;
  std::string key;  // of the contract, for messages: "data.tuning"
  Splitting splitting = Splitting::kWhole;
  std::vector<WantedSet> sets;
};

/// One SampleSet per wanted set, in that order. A set may come out empty; that is for the caller to
/// judge.
Result<std::vector<SampleSet>> read_folder(const Contract& contract, const OnnxModel& model,
                                           const FolderOrder& order);

/// Over names, dtypes, shapes and bytes.
std::string sample_digest(const std::map<std::string, Tensor>& inputs);

/// Where on [0, 1) a text lies by its hash: the same text always at the same place.
double place_by_hash(std::string_view text);

}  // namespace fiel
