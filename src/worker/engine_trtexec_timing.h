// How does a block of measure become runs of trtexec, and their traces a block? trtexec runs one set of inputs as often as it is
// told, so that a block is one run for each shape that its samples have. Pure: runs nothing.
#pragma once

#include <string>
#include <vector>

#include "worker/engine_trtexec_files.h"
#include "worker/self_timed.h"

namespace fiel::trtexec {

/// Items of a feed with the same input shapes, by the first of them.
struct SameShape {
  std::size_t item = 0;
  double share = 1;  // of all items
};
std::vector<SameShape> same_shapes(const Feed& feed);

/// --iterations and --duration for this share of the block. The warm-up is counted in: it is cut off afterwards.
std::vector<std::string> limit_arguments(const LoopLimits& limits, double share);

class BlockSum {
 public:
  BlockSum(const LoopLimits& limits, bool offline) : limits_(limits), offline_(offline) {}

  /// One run's trace; `samples` is what one of its queries counts for when offline.
  EngineResult<> add(const std::vector<Query>& trace, std::int64_t samples);
  void last(std::size_t item, std::vector<Tensor> outputs);
  SelfTimedBlock take();

 private:
  LoopLimits limits_;
  bool offline_;
  LoopReport report_;
  std::vector<double> compute_seconds_;
};

}  // namespace fiel::trtexec
