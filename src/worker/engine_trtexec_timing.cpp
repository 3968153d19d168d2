#include "worker/engine_trtexec_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "worker/guard.h"

namespace fiel::trtexec {

std::vector<SameShape> same_shapes(const Feed& feed) {
  const auto alike = [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(feed.inputs(a, 0), feed.inputs(b, 0), {}, [](const TensorView& view) { return view.shape; },
                              [](const TensorView& view) { return view.shape; });
  };
  std::vector<SameShape> groups;
  const double one = 1.0 / static_cast<double>(std::max<std::size_t>(feed.item_count(), 1));
  for (std::size_t item = 0; item < feed.item_count(); ++item) {
    const auto found = std::ranges::find_if(groups, [&](const SameShape& group) { return alike(group.item, item); });
    if (found == groups.end()) {
      groups.push_back({.item = item, .share = one});
    } else {
      found->share += one;
    }
  }
  return groups;
}

std::vector<std::string> limit_arguments(const LoopLimits& limits, double share) {
  const auto least = static_cast<std::int64_t>(std::ceil(static_cast<double>(limits.min_count) * share - 1e-9));
  return {fmt::format("--iterations={}", limits.warmup_count + std::max<std::int64_t>(least, 1)),
          fmt::format("--duration={:.6f}", limits.min_seconds * share)};
}

EngineResult<> BlockSum::add(const std::vector<Query>& trace, std::int64_t samples) {
  const auto warmup = static_cast<std::size_t>(limits_.warmup_count);
  if (trace.size() <= warmup) {
    return engine_fail("internal", fmt::format("trtexec did {} queries, and {} are to warm up", trace.size(), warmup));
  }
  report_.warmup_seconds.resize(warmup, 0.0);  // of several runs, the slowest of each round
  for (std::size_t i = 0; i < warmup; ++i) {
    report_.warmup_seconds[i] = std::max(report_.warmup_seconds[i], trace[i].latency_seconds);
  }
  const double first = trace[warmup].start_seconds;
  double end = first;
  for (std::size_t i = warmup; i < trace.size(); ++i) {
    // trtexec can't be told to stop at a time; what it did after it does not count.
    if (i > warmup && !(trace[i].start_seconds - first + report_.seconds < limits_.max_seconds)) break;
    report_.latency_seconds.push_back(trace[i].latency_seconds);
    compute_seconds_.push_back(trace[i].compute_seconds);
    report_.count += offline_ ? samples : 1;
    end = std::max(end, trace[i].end_seconds);
  }
  report_.seconds += end - first;
  return {};
}

void BlockSum::last(std::size_t item, std::vector<Tensor> outputs) {
  report_.last = {.item = item, .steps = {}};
  report_.last.steps.push_back(std::move(outputs));
}

SelfTimedBlock BlockSum::take() {
  // Traces are printed with six digits: a block that is short beside its distance from the origin may seem to take no time.
  if (!(report_.seconds > 0)) {
    for (const double seconds : report_.latency_seconds) report_.seconds += seconds;
  }
  SelfTimedBlock block{.report = std::move(report_), .told = {}};
  std::ranges::nth_element(compute_seconds_, compute_seconds_.begin() + std::ssize(compute_seconds_) / 2);
  block.told["device_p50_seconds"] = compute_seconds_[compute_seconds_.size() / 2];
  return block;
}

}  // namespace fiel::trtexec
