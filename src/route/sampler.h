// How many routes are there, and which one by chance? Knobs that hang together by conditions or
// clauses are listed once; sets of knobs that do not are independent, so counts multiply and draws
// are made set by set. No route is ever enumerated as a whole.
#pragma once

#include <vector>

#include "base/rng.h"
#include "route/indexed_engine.h"
#include "route/space.h"

namespace fiel {

class RouteSampler {
 public:
  /// Keeps a reference to the space, which must have at least one valid route.
  explicit RouteSampler(const Space& space);

  /// Number of canonical routes (Space::size).
  double size() const { return size_; }

  /// Each canonical route equally likely.
  BuildRoute draw(Rng& rng) const;

 private:
  struct KnobSet {
    std::vector<int> knobs;
    std::vector<Choices> combinations;  // of these knobs; empty where there are too many
    double count = 0.0;
  };
  struct Engine {
    IndexedEngine index;
    std::vector<KnobSet> sets;
    double count = 1.0;
  };

  static KnobSet list(const IndexedEngine& index, std::vector<int> knobs);
  static void draw_by_trial(const IndexedEngine& index, const KnobSet& set, Choices& choices,
                            Rng& rng);

  const std::vector<BuildRoute>* listed_ = nullptr;
  std::vector<Engine> engines_;
  double size_ = 0.0;
};

}  // namespace fiel
