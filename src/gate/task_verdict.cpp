#include "gate/task_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gate/own_mean.h"
#include "stats/non_inferiority.h"

namespace fiel {
namespace {

// 0.01 * 0.9 is not 0.009 in binary; an estimate that is off by so little still lies at its margin, not outside.
constexpr double kRounding = 1e-9;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

double sign_of(const PairedSlice& paired) { return paired.lower_is_better ? -1.0 : 1.0; }

// In score units. A relative margin is a share of the reference's score, whatever that score's sign.
std::optional<double> margin_of(const Margin& limit, double reference_score) {
  std::optional<double> margin = limit.max_drop;
  if (limit.max_drop_relative) {
    const double relative = *limit.max_drop_relative * std::abs(reference_score);
    margin = margin ? std::min(*margin, relative) : relative;
  }
  return margin;
}

bool drop_is_inside(const TaskVerdict& verdict) {
  return !verdict.margin || verdict.drop <= *verdict.margin + kRounding * *verdict.margin;
}

bool floor_is_kept(const TaskVerdict& verdict, const PairedSlice& paired) {
  if (!verdict.min_score) return true;
  const double sign = sign_of(paired);
  const double slack = kRounding * std::abs(*verdict.min_score);
  return sign * verdict.candidate_score >= sign * *verdict.min_score - slack;
}

bool has_limit(const TaskVerdict& verdict) { return verdict.margin || verdict.min_score; }

TaskVerdict count(const PairedSlice& paired) {
  TaskVerdict verdict;
  verdict.task = paired.task;
  verdict.slice = paired.slice;
  verdict.n = static_cast<std::int64_t>(paired.reference.size());
  verdict.min_score = paired.limit.min_score;
  verdict.method = "point estimate";
  if (verdict.n == 0) {
    verdict.margin = paired.limit.max_drop;
    verdict.status = GateStatus::kUndecided;
    return verdict;
  }
  double drops = 0, squares = 0;
  for (std::size_t i = 0; i < paired.reference.size(); ++i) {
    const double drop = sign_of(paired) * (paired.reference[i] - paired.candidate[i]);
    drops += drop;
    squares += drop * drop;
    verdict.wins += drop < 0 ? 1 : 0;
    verdict.losses += drop > 0 ? 1 : 0;
  }
  verdict.reference_score = mean(paired.reference);
  verdict.candidate_score = mean(paired.candidate);
  verdict.drop = drops / static_cast<double>(verdict.n);
  if (verdict.n > 1) {
    const double n = static_cast<double>(verdict.n);
    verdict.drop_error = std::sqrt(std::max(0.0, squares / n - verdict.drop * verdict.drop) / (n - 1));
  }
  verdict.margin = margin_of(paired.limit, verdict.reference_score);
  // A score that is missing makes the drop NaN, which lies inside nothing; a floor alone must not overlook it.
  const bool inside = std::isfinite(verdict.drop) && drop_is_inside(verdict) && floor_is_kept(verdict, paired);
  verdict.status = inside ? GateStatus::kAdmissible : GateStatus::kRejected;
  return verdict;
}

// The share of `room` that is left; without any room, as little as the score is below where it should be.
double share_left(double left, double room, double scale) {
  constexpr double kSmallest = 1e-12;
  return left / (room > 0 ? room : std::max(scale, kSmallest));
}

// `more`: by so much the drop is taken to be larger.
std::optional<double> margin_left(const TaskVerdict& verdict, const PairedSlice& paired, double more) {
  std::optional<double> left;
  if (verdict.n == 0 || !has_limit(verdict) || !std::isfinite(verdict.drop)) return left;
  if (verdict.margin) {
    left = share_left(*verdict.margin - verdict.drop - more, *verdict.margin, std::abs(verdict.reference_score));
  }
  if (verdict.min_score) {
    const double sign = sign_of(paired);
    const double above = sign * (verdict.candidate_score - *verdict.min_score) - more;
    const double room = sign * (verdict.reference_score - *verdict.min_score);
    const double floor_left = share_left(above, room, std::abs(*verdict.min_score));
    left = left ? std::min(*left, floor_left) : floor_left;
  }
  return left;
}

std::string where(const TaskVerdict& verdict) {
  return verdict.slice.empty() ? verdict.task : fmt::format("{} on slice {}", verdict.task, verdict.slice);
}

std::string drop_words(const TaskVerdict& verdict, const PairedSlice& paired) {
  const bool worse = verdict.drop > 0;
  if (paired.lower_is_better) return fmt::format("{} by {:.4g}", worse ? "rose" : "fell", std::abs(verdict.drop));
  return fmt::format("{} {:.4g}", worse ? "lost" : "gained", std::abs(verdict.drop));
}

std::string rejection(const TaskVerdict& verdict, const PairedSlice& paired) {
  if (!std::isfinite(verdict.drop)) {
    return fmt::format("{} has no score for some of {} samples", where(verdict), verdict.n);
  }
  if (!drop_is_inside(verdict)) {
    return fmt::format("{} {} (margin {:.4g}, n {})", where(verdict), drop_words(verdict, paired), *verdict.margin,
                       verdict.n);
  }
  return fmt::format("{} scores {:.4g}, {} {:.4g} (n {})", where(verdict), verdict.candidate_score,
                     paired.lower_is_better ? "above the ceiling" : "below the floor", *verdict.min_score, verdict.n);
}

GateReason reason_of(const TaskVerdict& verdict) {
  if (!verdict.slice.empty()) return GateReason::kSlice;
  return std::isfinite(verdict.drop) && drop_is_inside(verdict) ? GateReason::kFloor : GateReason::kTask;
}

JudgedSlice judged(TaskVerdict verdict, const PairedSlice& paired) {
  JudgedSlice result;
  result.margin_left = margin_left(verdict, paired, 0.0);
  result.margin_to_spare = margin_left(verdict, paired, verdict.drop_error.value_or(0.0));
  if (verdict.n == 0) {
    result.reason = GateReason::kUndecided;
    result.message = fmt::format("{} has no samples", where(verdict));
  } else if (verdict.status == GateStatus::kRejected) {
    result.reason = reason_of(verdict);
    result.message = rejection(verdict, paired);
  }
  result.verdict = std::move(verdict);
  return result;
}

std::optional<double> if_finite(double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; }

bool all_shares(const std::vector<double>& scores) {
  return std::ranges::all_of(scores, [](double x) { return x >= 0 && x <= 1; });
}

// A relative margin is itself an estimate: m = r |mean of the reference|. For real-valued scores its error is carried
// along by testing the mean of gain_i + r s reference_i (s = sign of the mean) against zero: the reference's scores are
// shifted so that the gains' mean stays and their spread gets the margin's part. Binary scores keep the score test at
// the estimated margin, whose error is small beside that of the discordant samples.
std::vector<double> shifted_reference(const PairedSlice& paired, const TaskVerdict& verdict) {
  std::vector<double> shifted = paired.reference;
  if (!paired.limit.max_drop_relative || verdict.margin == paired.limit.max_drop) return shifted;
  const bool binary = all_zero_or_one(paired.reference) && all_zero_or_one(paired.candidate);
  if (binary && !has_dependent_samples(paired.groups)) return shifted;
  const double share = *paired.limit.max_drop_relative * (verdict.reference_score < 0 ? -1.0 : 1.0);
  for (double& score : shifted) score -= sign_of(paired) * (share * score - *verdict.margin);
  return shifted;
}

struct Proof {
  bool proven = true;
  std::optional<std::int64_t> n_needed = {};

  void add(bool is_proven, std::optional<std::int64_t> needed) {
    if (is_proven) return;
    proven = false;
    if (needed) n_needed = std::max(n_needed.value_or(0), *needed);
  }
};

void prove_drop(TaskVerdict& verdict, Proof& proof, const PairedSlice& paired, const ProofLevel& level) {
  const auto shifted = shifted_reference(paired, verdict);
  stats::PairedScores scores{.reference = shifted, .candidate = paired.candidate, .groups = paired.groups};
  scores.direction =
      paired.lower_is_better ? stats::Direction::kLowerIsBetter : stats::Direction::kHigherIsBetter;
  scores.seed = level.seed;
  if (all_shares(paired.reference) && all_shares(paired.candidate)) scores.score_range = 1.0;  // shifted ones may not look it
  const auto result = stats::non_inferiority(scores, {.margin = verdict.margin.value_or(0), .alpha = level.alpha});
  verdict.method = result.method;
  verdict.drop_upper = if_finite(-result.lower_bound);
  verdict.drop_lower = if_finite(-stats::gain_upper_bound(scores, level.alpha));
  if (verdict.margin) proof.add(result.decision == stats::Decision::kAccept, result.units_to_decide);
}

void prove_floor(TaskVerdict& verdict, Proof& proof, const PairedSlice& paired, const ProofLevel& level) {
  const OwnScores own{paired.candidate, paired.groups};
  const OwnBound bound{level.alpha, level.seed};
  const double reached = paired.lower_is_better ? own_upper_bound(own, bound) : own_lower_bound(own, bound);
  verdict.score_bound = if_finite(reached);
  const double sign = sign_of(paired);
  // Half-widths shrink with the root of n; a planning figure, no more.
  const double ratio = (verdict.candidate_score - reached) / (verdict.candidate_score - *verdict.min_score);
  const double needed = std::ceil(ratio * ratio * static_cast<double>(verdict.n));
  std::optional<std::int64_t> n_needed;
  if (needed > 0 && needed < 1e15) n_needed = static_cast<std::int64_t>(needed);
  proof.add(sign * reached >= sign * *verdict.min_score, n_needed);
}

std::string doubt(const TaskVerdict& verdict, const PairedSlice& paired, double alpha) {
  std::string text = fmt::format("{} {}", where(verdict), drop_words(verdict, paired));
  const std::string confidence = fmt::format("with {:.4g} % confidence", 100 * (1 - alpha));
  if (verdict.margin && verdict.drop_upper) {
    text += fmt::format(", at most {:.4g} {} (margin {:.4g}, n {})", *verdict.drop_upper, confidence, *verdict.margin,
                        verdict.n);
  } else if (verdict.min_score && verdict.score_bound) {
    text += fmt::format("; its score is {:.4g}, {} {:.4g} {} (limit {:.4g}, n {})", verdict.candidate_score,
                        paired.lower_is_better ? "at most" : "at least", *verdict.score_bound, confidence,
                        *verdict.min_score, verdict.n);
  } else {
    text += fmt::format(" (n {})", verdict.n);
  }
  return text + (verdict.n_needed ? fmt::format(": not proven; about {} samples would decide", *verdict.n_needed)
                                  : ": not proven, and no number of samples would at these scores");
}

}  // namespace

JudgedSlice estimate(const PairedSlice& paired) { return judged(count(paired), paired); }

JudgedSlice prove(const PairedSlice& paired, const ProofLevel& level) {
  TaskVerdict verdict = count(paired);
  if (verdict.n == 0 || !std::isfinite(verdict.drop)) return judged(std::move(verdict), paired);
  Proof proof;
  prove_drop(verdict, proof, paired, level);
  if (verdict.min_score) prove_floor(verdict, proof, paired, level);
  const bool doubtful = verdict.status == GateStatus::kAdmissible && !proof.proven;
  if (doubtful) {
    verdict.status = GateStatus::kUndecided;
    verdict.n_needed = proof.n_needed;
  }
  JudgedSlice result = judged(std::move(verdict), paired);
  if (doubtful) {
    result.reason = GateReason::kUndecided;
    result.message = doubt(result.verdict, paired, level.alpha);
  }
  return result;
}

std::optional<JudgedSlice> clearly_outside(const PairedSlice& paired) {
  const TaskVerdict verdict = count(paired);
  if (verdict.n == 0 || !has_limit(verdict) || verdict.status != GateStatus::kRejected) return std::nullopt;
  bool clear = !std::isfinite(verdict.drop);
  // The bounds lie beyond the estimate, so only an estimate that is outside can have its bound outside.
  if (!clear && !drop_is_inside(verdict)) {
    stats::PairedScores scores{.reference = paired.reference, .candidate = paired.candidate, .groups = paired.groups};
    scores.direction =
        paired.lower_is_better ? stats::Direction::kLowerIsBetter : stats::Direction::kHigherIsBetter;
    clear = stats::clearly_inferior(scores, *verdict.margin);
  }
  if (!clear && !floor_is_kept(verdict, paired)) {
    const OwnScores own{paired.candidate, paired.groups};
    const OwnBound bound{stats::kEarlyRejectionAlpha, 0};
    clear = paired.lower_is_better ? own_lower_bound(own, bound) > *verdict.min_score
                                   : own_upper_bound(own, bound) < *verdict.min_score;
  }
  if (!clear) return std::nullopt;
  return judged(verdict, paired);
}

}  // namespace fiel
