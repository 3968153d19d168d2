#include "worker/slot_runner.h"

#include <fmt/format.h>

#include <utility>

#include "worker/guard.h"

namespace fiel {

void SlotRunner::begin(std::size_t item) {
  item_ = item;
  step_ = 0;
  step_count_ = feed_.step_count(item);
  steps_.clear();
}

EngineResult<> SlotRunner::prepare() {
  if (!feed_.recurrent() || step_ == 0) return engine_.prepare(slot_, feed_.inputs(item_, step_));
  return engine_.prepare(slot_, feed_.inputs_after(item_, step_, steps_.back()));
}

EngineResult<> SlotRunner::advance() {
  ++step_;
  if (!feed_.recurrent()) return {};
  steps_.push_back(FIEL_TRY_ENGINE(outputs()));
  return {};
}

EngineResult<Finished> SlotRunner::take_finished() {
  while (feed_.recurrent() && !done()) {
    FIEL_TRY_ENGINE(prepare());
    FIEL_TRY_ENGINE(engine_.run(slot_));
    FIEL_TRY_ENGINE(advance());
  }
  if (!feed_.recurrent()) steps_.push_back(FIEL_TRY_ENGINE(outputs()));
  return Finished{.item = item_, .steps = std::exchange(steps_, {})};
}

EngineResult<std::vector<Tensor>> SlotRunner::outputs() {
  std::vector<Tensor> tensors = FIEL_TRY_ENGINE(engine_.outputs(slot_));
  if (tensors.size() != feed_.output_count()) {
    return engine_fail("internal", fmt::format("the engine gave {} outputs, the model has {}",
                                               tensors.size(), feed_.output_count()));
  }
  return tensors;
}

}  // namespace fiel
