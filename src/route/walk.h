// Which route comes next, when all are walked one by one? Space::enumerate as something that can be
// asked: it keeps one route, not the list, so a space of any size can be begun.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "route/indexed_engine.h"
#include "route/space.h"

namespace fiel {

/// Steps through all combinations of some knobs that are not forbidden, the last knob fastest.
class Odometer {
 public:
  /// Keeps a reference to the engine. `knobs` ascend and hold all that their conditions name.
  Odometer(const IndexedEngine& engine, std::vector<int> knobs);

  /// Writes the next combination into `choices` (one entry per knob of the engine; those of other
  /// knobs are left alone). False after the last one.
  bool next(Choices& choices);

 private:
  const IndexedEngine* engine_;
  std::vector<int> knobs_;
  std::vector<int> positions_;  // of the present combination; -1: before the first value
  enum class State { kFresh, kUnderWay, kDone } state_ = State::kFresh;
};

class RouteWalk {
 public:
  /// Keeps a reference to the space.
  explicit RouteWalk(const Space& space) : space_(&space) {}

  /// The next canonical route, in the order of Space::enumerate; nothing after the last.
  std::optional<BuildRoute> next();

 private:
  struct Visit {
    explicit Visit(const EngineSpace& engine);
    IndexedEngine index;
    Odometer odometer;
    Choices choices;
  };

  const Space* space_;
  std::size_t listed_number_ = 0;
  std::size_t engine_number_ = 0;
  std::unique_ptr<Visit> visit_;
};

}  // namespace fiel
