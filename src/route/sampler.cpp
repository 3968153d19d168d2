#include "route/sampler.h"

#include <utility>

#include "base/result.h"
#include "route/walk.h"

namespace fiel {
namespace {

// More combinations of knobs that hang together than this are not listed but tried.
constexpr std::size_t kMostListed = 65536;
constexpr int kMostTrials = 100'000;

}  // namespace

RouteSampler::RouteSampler(const Space& space) : listed_(space.listed()) {
  if (listed_ != nullptr) {
    size_ = static_cast<double>(listed_->size());
    return;
  }
  for (const EngineSpace& engine : space.engines()) {
    Engine entry{.index = IndexedEngine(engine), .sets = {}, .count = 1.0};
    for (auto& knobs : entry.index.independent_sets()) {
      entry.sets.push_back(list(entry.index, std::move(knobs)));
      entry.count *= entry.sets.back().count;
    }
    size_ += entry.count;
    engines_.push_back(std::move(entry));
  }
}

RouteSampler::KnobSet RouteSampler::list(const IndexedEngine& index, std::vector<int> knobs) {
  KnobSet set{.knobs = knobs, .combinations = {}, .count = 1.0};
  Odometer odometer(index, knobs);
  Choices choices(static_cast<std::size_t>(index.knob_count()), kNotCounting);
  while (odometer.next(choices)) {
    if (set.combinations.size() == kMostListed) {
      set.combinations.clear();
      for (const int knob : knobs) set.count *= index.value_count(knob);
      return set;
    }
    Choices combination;
    for (const int knob : knobs) combination.push_back(choices[static_cast<std::size_t>(knob)]);
    set.combinations.push_back(std::move(combination));
  }
  set.count = static_cast<double>(set.combinations.size());
  return set;
}

void RouteSampler::draw_by_trial(const IndexedEngine& index, const KnobSet& set, Choices& choices,
                                 Rng& rng) {
  for (int trial = 0; trial < kMostTrials; ++trial) {
    bool is_good = true;
    for (const int knob : set.knobs) {
      const auto values = static_cast<std::uint64_t>(index.value_count(knob));
      const int drawn = static_cast<int>(rng.below(values));
      const bool is_counting = index.counts(choices, knob);
      choices[static_cast<std::size_t>(knob)] = is_counting ? drawn : kNotCounting;
      // A knob that does not count must draw its first value: else routes in which many do not
      // count would come up once for each of their unseen values.
      is_good = is_good && (is_counting || drawn == 0) && !index.forbidden_at(choices, knob);
    }
    if (is_good) return;
  }
  Odometer(index, set.knobs).next(choices);  // hardly anything is allowed: its first combination
}

BuildRoute RouteSampler::draw(Rng& rng) const {
  FIEL_CHECK(size_ > 0.0);
  if (listed_ != nullptr) return (*listed_)[static_cast<std::size_t>(rng.below(listed_->size()))];
  double left = rng.uniform01() * size_;
  std::size_t chosen = 0;
  while (chosen + 1 < engines_.size() && left >= engines_[chosen].count) {
    left -= engines_[chosen++].count;
  }
  while (engines_[chosen].count == 0.0) --chosen;  // rounding led past the last one that has routes
  const Engine& engine = engines_[chosen];
  Choices choices(static_cast<std::size_t>(engine.index.knob_count()), kNotCounting);
  for (const KnobSet& set : engine.sets) {
    if (set.combinations.empty()) {
      draw_by_trial(engine.index, set, choices, rng);
      continue;
    }
    const auto& combination =
        set.combinations[static_cast<std::size_t>(rng.below(set.combinations.size()))];
    for (std::size_t i = 0; i < set.knobs.size(); ++i) {
      choices[static_cast<std::size_t>(set.knobs[i])] = combination[i];
    }
  }
  return engine.index.route(choices);
}

}  // namespace fiel
