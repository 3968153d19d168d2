// Does one task on one slice keep its limit? Pure functions over paired scores: an estimate, a proof, or an early no.
// Knows no outputs and no engines; the statistics are stats/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gate/gate.h"

namespace fiel {

/// The scores of one task on one slice, in step. A score that is missing is NaN, and NaN passes nothing.
struct PairedSlice {
  std::string task;
  std::string slice;  // "" = overall
  std::vector<double> reference = {};
  std::vector<double> candidate = {};
  std::vector<std::int64_t> groups = {};  // one number per sample
  Margin limit = {};                      // an empty one: only reported
  bool lower_is_better = false;
};

struct JudgedSlice {
  TaskVerdict verdict = {};
  GateReason reason = GateReason::kNone;  // kTask, kSlice, kFloor, kUndecided
  std::string message = {};               // "exact_match lost 0.031 on slice small (margin 0.03, n 60)"
  /// (margin - drop) / margin, or the share of the room above the floor that is left; the smaller one.
  std::optional<double> margin_left = {};
  std::optional<double> margin_to_spare = {};  // the same with a drop that is larger by its standard error
};

/// Point estimates: kAdmissible inside the limit (the limit itself is inside), else kRejected; kUndecided without samples.
JudgedSlice estimate(const PairedSlice& paired);

struct ProofLevel {
  double alpha;
  std::uint64_t seed;
};
/// kAdmissible where proven, kRejected where the estimate lies outside, else kUndecided with n_needed.
JudgedSlice prove(const PairedSlice& paired, const ProofLevel& level);

/// The estimate, if even the 99.9 % bound lies outside the limit.
std::optional<JudgedSlice> clearly_outside(const PairedSlice& paired);

}  // namespace fiel
