// Before any search: is there a slice on which even a candidate that loses nothing could not be proven?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/gate.h"
#include "stats/sample_size.h"

namespace fiel {
namespace {

bool is_zero_or_one(const TaskRule& task) {
  return task.builtin && *task.builtin != BuiltinEvaluator::kAbsoluteError &&
         *task.builtin != BuiltinEvaluator::kEmbeddingCosine;
}

// Scores of a program may be anything; those within 0 and 1 need the least, so a stop on this ground is never wrong.
std::optional<std::int64_t> needed_for(const TaskRule& task, const stats::Requirement& requirement) {
  if (is_zero_or_one(task)) return stats::zero_loss_samples(requirement);
  return stats::zero_loss_samples(requirement, 1.0);
}

std::optional<double> margin_in_score_units(const TaskRule& task, const Margin& limit,
                                            const std::map<std::string, double>& reference_means) {
  if (limit.max_drop || !limit.max_drop_relative) return limit.max_drop;
  const auto mean = reference_means.find(task.name);
  return *limit.max_drop_relative * (mean == reference_means.end() ? 1.0 : std::abs(mean->second));
}

// All n right: the bound alpha^(1/n) reaches the floor from n = ln alpha / ln floor on (Clopper & Pearson).
std::int64_t needed_for_floor(double floor, double alpha) {
  if (floor <= 0) return 1;
  return floor < 1 ? static_cast<std::int64_t>(std::ceil(std::log(alpha) / std::log(floor))) : 0;
}

struct Place {
  const TaskRule& task;
  std::string slice;
  const Margin& limit;
  std::int64_t n;
};

void look_at(std::vector<Undecidable>& gaps, const Place& place, double alpha,
             const std::map<std::string, double>& reference_means) {
  const bool has_known_scale = place.task.builtin != BuiltinEvaluator::kAbsoluteError;
  Undecidable gap{.task = place.task.name, .slice = place.slice, .n = place.n};
  if (const auto margin = margin_in_score_units(place.task, place.limit, reference_means); margin && has_known_scale) {
    const auto needed = needed_for(place.task, {.margin = *margin, .alpha = alpha});
    gap.margin = *margin;
    gap.n_needed = needed.value_or(0);
    if (!needed || place.n < *needed) {
      gaps.push_back(gap);
      return;
    }
  }
  if (place.limit.min_score && is_zero_or_one(place.task)) {
    gap.margin = 1 - *place.limit.min_score;
    gap.n_needed = needed_for_floor(*place.limit.min_score, alpha);
    if (gap.n_needed == 0 || place.n < gap.n_needed) gaps.push_back(gap);
  } else if (place.n == 0) {
    gap.n_needed = 2;  // what the scores are like is unknown; a spread needs two
    gaps.push_back(gap);
  }
}

}  // namespace

std::vector<Undecidable> undecidable(const Contract& contract, const Units& units,
                                     double alpha, const std::map<std::string, double>& reference_means) {
  std::vector<Undecidable> gaps;
  for (const TaskRule& task : contract.accuracy.tasks) {
    look_at(gaps, {task, "", task.margin, units.all}, alpha, reference_means);
    for (const auto& [slice, limit] : task.slices) {
      const auto count = units.by_slice.find(slice);
      look_at(gaps, {task, slice, limit, count == units.by_slice.end() ? 0 : count->second}, alpha, reference_means);
    }
  }
  return gaps;
}

std::string describe(const Undecidable& gap) {
  const std::string where = gap.slice.empty() ? gap.task : fmt::format("{} on slice {}", gap.task, gap.slice);
  if (gap.n_needed == 0) {
    return fmt::format("{}: no number of samples can prove a margin of {:.4g}", where, gap.margin);
  }
  return fmt::format("{}: {} samples prove nothing within {:.4g} even if none is lost; at least {} are needed (a group counts once)", where,
                     gap.n, gap.margin, gap.n_needed);
}

}  // namespace fiel
