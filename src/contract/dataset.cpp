#include "contract/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/nearest.h"
#include "base/numbers.h"
#include "contract/check_model.h"
#include "contract/pack.h"
#include "contract/set_reader.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr double kCalibrationBelow = 0.1;
constexpr double kTuningBelow = 0.5;
constexpr std::size_t kShownPairs = 5;

struct NamedSet {
  std::string name;
  const SampleSet* set;
};

/// A sample that is in two sets makes the hold-out say what the search already knew.
Result<> check_disjoint(const Contract& contract, const std::vector<NamedSet>& sets) {
  std::map<std::string, std::pair<std::string, std::string>> seen;  // digest -> set, sample
  std::vector<std::string> pairs;
  std::size_t count = 0;
  for (const NamedSet& named : sets) {
    for (const Sample& sample : named.set->samples) {
      const auto [found, is_new] = seen.try_emplace(sample.digest, named.name, sample.id);
      if (is_new || found->second.first == named.name) continue;
      if (++count <= kShownPairs) {
        pairs.push_back(fmt::format("{} '{}' = {} '{}'", found->second.first, found->second.second,
                                    named.name, sample.id));
      }
    }
  }
  if (count == 0) return {};
  const std::string more =
      count > kShownPairs ? fmt::format(" and {} more", count - kShownPairs) : "";
  return refuse(fmt::format("{}: the sets share samples of the same content: {}{}",
                            contract.place("data"), fmt::join(pairs, ", "), more),
                "remove each from one of the two: what steered the search cannot prove its result");
}

std::vector<std::string> shared_groups(const std::vector<NamedSet>& sets) {
  std::vector<std::string> notes;
  std::map<std::string, std::string> seen;
  for (const NamedSet& named : sets) {
    for (const Sample& sample : named.set->samples) {
      if (sample.group.empty()) continue;
      const auto [found, is_new] = seen.try_emplace(sample.group, named.name);
      if (is_new || found->second == named.name) continue;
      notes.push_back(
          fmt::format("group '{}' is in {} and in {}: its samples depend on each other, so the "
                      "hold-out proves less",
                      sample.group, found->second, named.name));
      found->second = named.name;
      if (notes.size() == kShownPairs) return notes;
    }
  }
  return notes;
}

std::string data_key(const Contract& contract, const std::string& set) {
  return contract.data.empty() ? "data." + set : "data.samples";
}

/// Every slice with a limit of its own must be there, else that limit would hold for want of
/// samples.
Result<> check_slices(const Contract& contract, const NamedSet& named) {
  const auto counts = named.set->slice_counts();
  std::vector<std::string> known;
  for (const auto& [slice, count] : counts) {
    if (!slice.empty()) known.push_back(slice);
  }
  for (std::size_t i = 0; i < contract.accuracy.tasks.size(); ++i) {
    for (const auto& [slice, margin] : contract.accuracy.tasks[i].slices) {
      if (counts.contains(slice)) continue;
      return refuse(
          fmt::format("{}: no sample of {} is in slice '{}'",
                      contract.place(fmt::format("accuracy.task[{}].slices.{}", i, slice)),
                      named.name, slice),
          known.empty() ? "labels.csv has no column 'slice' with a name in it"
                        : did_you_mean(slice, known));
    }
  }
  return {};
}

bool is_whole_number(std::string_view label, double high) {
  label = label.substr(std::min(label.find_first_not_of(" \t"), label.size()));
  while (label.ends_with(' ') || label.ends_with('\t')) label.remove_suffix(1);
  const auto number = number_from<double>(label);
  return number && *number >= 0 && *number <= high && *number == std::floor(*number);
}

Result<> check_label(const Sample& sample, BuiltinEvaluator evaluator, const std::string& where) {
  std::string_view wanted;
  if (evaluator == BuiltinEvaluator::kTop1 || evaluator == BuiltinEvaluator::kTop5) {
    if (!is_whole_number(sample.label, 0x1p53)) wanted = "the number of its class, counted from 0";
  } else if (evaluator == BuiltinEvaluator::kBinary) {
    if (!is_whole_number(sample.label, 1)) wanted = "0 or 1";
  } else if (sample.label.empty()) {
    wanted = "the right value";
  }
  if (wanted.empty()) return {};
  return refuse(fmt::format("{}: the label of sample '{}' is '{}'", where, sample.id, sample.label),
                fmt::format("{} wants {} as the label", to_string(evaluator), wanted));
}

Result<> check_labels(const Contract& contract, const NamedSet& named) {
  for (std::size_t i = 0; i < contract.accuracy.tasks.size(); ++i) {
    const auto builtin = contract.accuracy.tasks[i].builtin;
    if (!builtin || !needs_labels(*builtin)) continue;
    if (!named.set->has_labels) {
      return refuse(
          fmt::format("{}: {} needs labels, but {} has no labels.csv with a column 'label'",
                      contract.place(fmt::format("accuracy.task[{}].evaluator", i)),
                      to_string(*builtin), named.name),
          "add labels, or use evaluator = \"agreement\", which compares with the reference");
    }
    for (const Sample& sample : named.set->samples) {
      FIEL_TRY(check_label(sample, *builtin, contract.place(data_key(contract, named.name))));
    }
  }
  return {};
}

/// Every shape of the traffic needs samples to time it with. Where the split left none in tuning,
/// that is nobody's mistake.
Result<> check_traffic_is_there(const Contract& contract, const SampleSet& tuning,
                                std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < contract.shapes.size(); ++i) {
    const bool is_there = std::ranges::any_of(tuning.samples, [&](const Sample& sample) {
      return is_of_shape(contract, sample, contract.shapes[i]);
    });
    if (!is_there && !contract.data.empty()) {
      notes.push_back(fmt::format(
          "no tuning sample has the shape of [[model.shape]] number {}: it is not timed", i + 1));
    } else if (!is_there) {
      return refuse(
          fmt::format("{}: no tuning sample has this shape",
                      contract.place(fmt::format("model.shape[{}].{}", i,
                                                 contract.shapes[i].inputs.begin()->first))),
          "add samples of that shape, or remove the [[model.shape]]");
    }
  }
  return {};
}

Result<> check_set(const Contract& contract, const NamedSet& named) {
  if (named.set->samples.empty()) {
    return refuse(
        fmt::format("{}: {} has no samples", contract.place(data_key(contract, named.name)),
                    named.name),
        contract.data.empty()
            ? "add samples"
            : "a few dozen samples are needed at least, so that each part of the split gets some");
  }
  FIEL_TRY(check_slices(contract, named));
  return check_labels(contract, named);
}

enum class WithHoldout { kYes, kNo };

struct AllSets {
  std::optional<SampleSet> calibration;
  SampleSet tuning;
  std::optional<SampleSet> holdout;
  std::vector<std::string> notes;
};

Result<AllSets> read_split(const Contract& contract, const OnnxModel& model, const fs::path& packs,
                           WithHoldout with_holdout) {
  FolderOrder order{contract.data,
                    "data.samples",
                    Splitting::kByContent,
                    {{"calibration", packs / "calibration.pack", 0.0, kCalibrationBelow},
                     {"tuning", packs / "tuning.pack", kCalibrationBelow, kTuningBelow}}};
  if (with_holdout == WithHoldout::kYes)
    order.sets.push_back({"holdout", packs / "holdout.pack", kTuningBelow, 1.0});
  auto sets = FIEL_TRY(read_folder(contract, model, order));
  AllSets all;
  const auto calibration_count = sets[0].samples.size();
  if (calibration_count > 0) all.calibration = std::move(sets[0]);
  all.tuning = std::move(sets[1]);
  std::string note =
      fmt::format("{} was split by content: {} samples for calibration, {} for tuning",
                  contract.data.string(), calibration_count, all.tuning.samples.size());
  if (with_holdout == WithHoldout::kYes) {
    all.holdout = std::move(sets[2]);
    note += fmt::format(", {} for the hold-out", all.holdout->samples.size());
  }
  all.notes.push_back(note);
  return all;
}

Result<SampleSet> read_one(const Contract& contract, const OnnxModel& model, const fs::path& folder,
                           const std::string& name, const fs::path& pack) {
  const FolderOrder order{folder, "data." + name, Splitting::kWhole, {{name, pack, 0.0, 1.0}}};
  auto sets = FIEL_TRY(read_folder(contract, model, order));
  return std::move(sets[0]);
}

Result<AllSets> read_folders(const Contract& contract, const OnnxModel& model,
                             const fs::path& packs, WithHoldout with_holdout) {
  AllSets all;
  if (!contract.calibration.empty()) {
    all.calibration = FIEL_TRY(
        read_one(contract, model, contract.calibration, "calibration", packs / "calibration.pack"));
  }
  all.tuning =
      FIEL_TRY(read_one(contract, model, contract.tuning, "tuning", packs / "tuning.pack"));
  if (with_holdout == WithHoldout::kYes) {
    all.holdout =
        FIEL_TRY(read_one(contract, model, contract.holdout, "holdout", packs / "holdout.pack"));
  }
  return all;
}

Result<> check_sets(const Contract& contract, AllSets& all) {
  std::vector<NamedSet> named;
  if (all.calibration) named.push_back({"calibration", &*all.calibration});
  named.push_back({"tuning", &all.tuning});
  FIEL_TRY(check_set(contract, named.back()));
  FIEL_TRY(check_traffic_is_there(contract, all.tuning, all.notes));
  if (all.holdout) {
    named.push_back({"holdout", &*all.holdout});
    FIEL_TRY(check_set(contract, named.back()));
  }
  FIEL_TRY(check_disjoint(contract, named));
  for (std::string& note : shared_groups(named)) all.notes.push_back(std::move(note));
  return {};
}

Result<AllSets> read_sets(const Contract& contract, const OnnxModel& model, const fs::path& packs,
                          WithHoldout with_holdout) {
  FIEL_TRY(check_contract(contract, model));
  std::vector<fs::path> new_records;
  for (const char* name : {"calibration.pack", "tuning.pack", "holdout.pack"}) {
    const fs::path record = pack_record_path(packs / name);
    std::error_code code;
    if (!fs::exists(record, code)) new_records.push_back(record);
  }
  auto all = contract.data.empty() ? read_folders(contract, model, packs, with_holdout)
                                   : read_split(contract, model, packs, with_holdout);
  auto checked = all ? check_sets(contract, *all) : Result<>();
  if (all && checked) return all;
  // No run began with these data: when they are corrected, that is no change to complain about.
  for (const fs::path& record : new_records) {
    std::error_code code;
    fs::remove(record, code);
  }
  return std::unexpected(all ? std::move(checked).error() : std::move(all).error());
}

}  // namespace

std::map<std::string, std::int64_t> SampleSet::slice_counts() const {
  std::map<std::string, std::int64_t> counts;
  for (const Sample& sample : samples) ++counts[sample.slice];
  return counts;
}

Units SampleSet::units() const {
  std::set<std::string> groups;
  std::set<std::pair<std::string, std::string>> groups_of_slices;
  Units units;
  for (const Sample& sample : samples) {
    const bool alone = sample.group.empty();
    if (alone || groups.insert(sample.group).second) ++units.all;
    if (alone || groups_of_slices.emplace(sample.slice, sample.group).second)
      ++units.by_slice[sample.slice];
  }
  return units;
}

const SampleSet& HoldoutSet::samples(const Opening& opening) const {
  FIEL_CHECK(opening.holdout_digest() == set_.digest);
  return set_;
}

Result<DataSets> read_data_sets(const Contract& contract, const OnnxModel& model,
                                const fs::path& pack_folder) {
  AllSets all = FIEL_TRY(read_sets(contract, model, pack_folder, WithHoldout::kYes));
  return DataSets{std::move(all.calibration), TuningSet(std::move(all.tuning)),
                  HoldoutSet(std::move(*all.holdout)), std::move(all.notes)};
}

Result<SearchSets> read_search_sets(const Contract& contract, const OnnxModel& model,
                                    const fs::path& pack_folder) {
  AllSets all = FIEL_TRY(read_sets(contract, model, pack_folder, WithHoldout::kNo));
  return SearchSets{std::move(all.calibration), TuningSet(std::move(all.tuning)),
                    std::move(all.notes)};
}

Result<SampleSet> read_sample_set(const fs::path& folder, const OnnxModel& model,
                                  const Contract& contract, const fs::path& pack) {
  return read_one(contract, model, folder, pack.stem().string(), pack);
}

}  // namespace fiel
