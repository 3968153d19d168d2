#include "report/what_mattered.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/words.h"
#include "stats/variance_shares.h"

namespace fiel {
namespace {

constexpr double kLeastForetold = 0.3;  // below that the model has learned next to nothing
constexpr double kLeastShare = 0.01;
constexpr double kLeastGain = 1.01;     // of a setting that is worth copying
constexpr std::size_t kMostToCopy = 3;

struct Timed {
  const CandidateView* candidate;
  double log_time;  // against the comparator's
};

std::vector<Timed> timed_on(const RunView& view, const std::string& engine) {
  std::vector<Timed> timed;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.engine != engine) continue;
    const auto shown = ratio_of(view, candidate);
    const double ratio = id == view.comparator ? 1.0 : shown ? shown->ratio : 0.0;
    if (ratio > 0 && std::isfinite(ratio)) timed.push_back({&candidate, -std::log(ratio)});
  }
  return timed;
}

std::string level_of(const CandidateView& candidate, const std::string& knob) {
  for (const auto* settings : {&candidate.settings, &candidate.environment}) {
    if (const auto found = settings->find(knob); found != settings->end()) return found->second;
  }
  return std::string(kDefaultLevel);
}

struct Factor {
  std::string knob;
  std::vector<std::string> values;
};

// Knobs that stand at different levels in what was timed.
std::vector<Factor> factors_of(const std::vector<Timed>& timed) {
  std::set<std::string> knobs;
  for (const Timed& one : timed) {
    for (const auto* settings : {&one.candidate->settings, &one.candidate->environment}) {
      for (const auto& [knob, value] : *settings) knobs.insert(knob);
    }
  }
  std::vector<Factor> factors;
  for (const std::string& knob : knobs) {
    std::set<std::string> values;
    for (const Timed& one : timed) values.insert(level_of(*one.candidate, knob));
    if (values.size() > 1) factors.push_back({knob, {values.begin(), values.end()}});
  }
  return factors;
}

std::size_t index_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

KnobEffect effect_of(const RunView& view, const Factor& factor, const stats::FactorShare& found, const std::vector<Timed>& timed) {
  KnobEffect effect{.knob = factor.knob, .share = found.share, .reference = {}, .levels = {}};
  const CandidateView* comparator = view.find(view.comparator);
  effect.reference = kDefaultLevel;
  if (comparator != nullptr && comparator->engine == timed.front().candidate->engine) effect.reference = level_of(*comparator, factor.knob);
  if (index_of(factor.values, effect.reference) == factor.values.size()) effect.reference = factor.values.front();
  const double zero = found.effects[index_of(factor.values, effect.reference)];
  for (std::size_t i = 0; i < factor.values.size(); ++i) {
    LevelEffect level{.value = factor.values[i], .ratio = std::exp(zero - found.effects[i]), .candidates = 0, .admissible = 0};
    for (const Timed& one : timed) {
      if (level_of(*one.candidate, factor.knob) != level.value) continue;
      ++level.candidates;
      if (one.candidate->status == "admissible") ++level.admissible;
    }
    effect.levels.push_back(std::move(level));
  }
  std::ranges::stable_sort(effect.levels, std::ranges::greater{}, &LevelEffect::ratio);
  return effect;
}

std::vector<Setting> to_copy(const std::vector<KnobEffect>& knobs) {
  std::vector<Setting> settings;
  for (const KnobEffect& knob : knobs) {
    const auto best = std::ranges::find_if(knob.levels, [](const LevelEffect& level) { return level.admissible > 0; });
    if (knob.share < kLeastShare || best == knob.levels.end() || !(best->ratio >= kLeastGain)) continue;
    settings.push_back({knob.knob, best->value, best->ratio});
    if (settings.size() == kMostToCopy) break;
  }
  return settings;
}

WhatMattered on_engine(const RunView& view, const std::string& engine, const std::vector<Timed>& timed) {
  WhatMattered result;
  result.engine = engine;
  result.candidates = static_cast<int>(timed.size());
  const std::vector<Factor> factors = factors_of(timed);
  std::vector<std::size_t> levels;
  for (const Factor& factor : factors) levels.push_back(factor.values.size());
  std::vector<stats::FactorRow> rows;
  std::vector<double> values;
  for (const Timed& one : timed) {
    stats::FactorRow row;
    for (const Factor& factor : factors) row.push_back(static_cast<std::uint16_t>(index_of(factor.values, level_of(*one.candidate, factor.knob))));
    rows.push_back(std::move(row));
    values.push_back(one.log_time);
  }
  const auto shares = stats::variance_shares(levels, rows, values);
  if (timed.size() < stats::kFewestRows) {
    result.too_little = fmt::format("{} timed candidates are too few to tell knobs apart, it takes {}", timed.size(), stats::kFewestRows);
  } else if (!shares) {
    result.too_little = "no knob stood at two levels, or all took the same time";
  } else if (!(shares->foretold >= kLeastForetold)) {
    result.too_little = fmt::format("a model of knobs and pairs foretells no more than {} of the variance of candidates that it has "
                                    "not seen ({} were timed)", format_share(std::max(0.0, shares->foretold)), timed.size());
  }
  if (!result.too_little.empty()) return result;
  result.unexplained = std::clamp(1 - shares->foretold, 0.0, 1.0);
  for (std::size_t k = 0; k < factors.size(); ++k) result.knobs.push_back(effect_of(view, factors[k], shares->factors[k], timed));
  std::ranges::stable_sort(result.knobs, std::ranges::greater{}, &KnobEffect::share);
  for (const stats::PairShare& pair : shares->pairs) {
    if (pair.share >= kLeastShare) result.pairs.push_back({factors[pair.first].knob, factors[pair.second].knob, pair.share});
  }
  result.to_copy = to_copy(result.knobs);
  return result;
}

}  // namespace

std::vector<WhatMattered> what_mattered(const RunView& view) {
  std::set<std::string> engines;
  for (const auto& [id, candidate] : view.candidates) engines.insert(candidate.engine);
  std::vector<WhatMattered> all;
  for (const std::string& engine : engines) {
    const auto timed = timed_on(view, engine);
    if (!timed.empty()) all.push_back(on_engine(view, engine, timed));
  }
  return all;
}

}  // namespace fiel
