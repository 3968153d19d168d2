#include "route/walk.h"

#include <numeric>
#include <utility>

namespace fiel {
namespace {

std::vector<int> all_knobs(const IndexedEngine& engine) {
  std::vector<int> knobs(static_cast<std::size_t>(engine.knob_count()));
  std::iota(knobs.begin(), knobs.end(), 0);
  return knobs;
}

}  // namespace

Odometer::Odometer(const IndexedEngine& engine, std::vector<int> knobs)
    : engine_(&engine), knobs_(std::move(knobs)), positions_(knobs_.size(), -1) {}

bool Odometer::next(Choices& choices) {
  if (state_ == State::kDone) return false;
  const bool is_fresh = std::exchange(state_, State::kUnderWay) == State::kFresh;
  if (knobs_.empty()) {
    state_ = State::kDone;
    return is_fresh;
  }
  // Depth-first: a clause is tried as soon as its last knob is set, so that nothing below it is
  // walked in vain.
  std::size_t depth = is_fresh ? 0 : knobs_.size() - 1;
  for (;;) {
    const int knob = knobs_[depth];
    const bool is_counting = engine_->counts(choices, knob);
    const int options = is_counting ? engine_->value_count(knob) : 1;
    if (++positions_[depth] >= options) {
      positions_[depth] = -1;
      if (depth == 0) break;
      --depth;
      continue;
    }
    choices[static_cast<std::size_t>(knob)] = is_counting ? positions_[depth] : kNotCounting;
    if (engine_->forbidden_at(choices, knob)) continue;
    if (depth + 1 == knobs_.size()) return true;
    ++depth;
  }
  state_ = State::kDone;
  return false;
}

RouteWalk::Visit::Visit(const EngineSpace& engine)
    : index(engine),
      odometer(index, all_knobs(index)),
      choices(static_cast<std::size_t>(index.knob_count()), kNotCounting) {}

std::optional<BuildRoute> RouteWalk::next() {
  if (const auto* listed = space_->listed()) {
    if (listed_number_ == listed->size()) return std::nullopt;
    return (*listed)[listed_number_++];
  }
  while (engine_number_ < space_->engines().size()) {
    if (!visit_) visit_ = std::make_unique<Visit>(space_->engines()[engine_number_]);
    if (visit_->odometer.next(visit_->choices)) return visit_->index.route(visit_->choices);
    visit_.reset();
    ++engine_number_;
  }
  return std::nullopt;
}

}  // namespace fiel
