// Takes one slot of an engine through the steps of one item after another. What must not be timed
// (copying inputs, carrying state) happens in prepare() and advance(); between them the caller runs
// the slot as it likes.
#pragma once

#include <vector>

#include "worker/feed.h"

namespace fiel {

/// What a slot ran last: an item, and the outputs of its steps.
struct Finished {
  std::size_t item = 0;
  std::vector<std::vector<Tensor>> steps;
};

class SlotRunner {
 public:
  SlotRunner(Engine& engine, const Feed& feed, int slot)
      : engine_(engine), feed_(feed), slot_(slot) {}

  void begin(std::size_t item);
  bool done() const { return step_ == step_count_; }
  EngineResult<> prepare();
  EngineResult<> advance();
  /// Once, after advance(). Runs the rest of a sequence that was cut short, which nobody times: half a sequence can't be
  /// compared with a whole one. The outputs still lie in the engine where no state made us fetch them.
  EngineResult<Finished> take_finished();

 private:
  EngineResult<std::vector<Tensor>> outputs();

  Engine& engine_;
  const Feed& feed_;
  int slot_;
  std::size_t item_ = 0;
  std::size_t step_ = 0;
  std::size_t step_count_ = 0;
  std::vector<std::vector<Tensor>> steps_;
};

}  // namespace fiel
