#include "gate/conclude.h"

#include <fmt/format.h>

#include <algorithm>

namespace fiel {
namespace {

// Of those with this status, the one with the least of its margin left speaks for all.
const JudgedSlice* worst_of(std::span<const JudgedSlice> judged, GateStatus status, std::int64_t& count) {
  const JudgedSlice* worst = nullptr;
  for (const JudgedSlice& slice : judged) {
    if (slice.verdict.status != status) continue;
    ++count;
    // One without a number (a missing score) is worse than any number.
    if (worst == nullptr || (worst->margin_left && !(slice.margin_left >= worst->margin_left))) worst = &slice;
  }
  return worst;
}

std::string with_others(const std::string& message, std::int64_t count) {
  return count > 1 ? fmt::format("{}; and {} more", message, count - 1) : message;
}

// True where some row decides against admission.
bool take_worst(GateResult& result, std::span<const JudgedSlice> judged, GateStatus status) {
  std::int64_t count = 0;
  const JudgedSlice* worst = worst_of(judged, status, count);
  if (worst == nullptr) return false;
  result.status = status;
  result.reason = worst->reason;
  result.message = with_others(worst->message, count);
  return true;
}

bool take_tensors(GateResult& result) {
  std::int64_t count = 0;
  for (const TensorVerdict& tensor : result.tensors) {
    if (tensor.status != GateStatus::kRejected) continue;
    if (count++ > 0) continue;
    result.status = GateStatus::kRejected;
    result.reason = GateReason::kTensorRule;
    result.message = tensor.message;
  }
  result.message = with_others(result.message, count);
  return count > 0;
}

}  // namespace

GateResult hard_failure(const HardFault& fault, std::vector<TensorVerdict> tensors, const Seen& seen) {
  GateResult result;
  result.status = GateStatus::kRejected;
  result.reason = fault.reason;
  result.message = fault.message;
  result.samples_seen = seen.samples;
  result.tensors = std::move(tensors);
  return result;
}

GateResult conclude(std::span<const JudgedSlice> judged, std::vector<TensorVerdict> tensors, const Seen& seen) {
  GateResult result;
  result.samples_seen = seen.samples;
  result.tensors = std::move(tensors);
  for (const JudgedSlice& slice : judged) {
    result.tasks.push_back(slice.verdict);
    if (!slice.margin_left) continue;
    result.margin_left = std::min(result.margin_left.value_or(*slice.margin_left), *slice.margin_left);
    result.margin_to_spare = std::min(result.margin_to_spare.value_or(*slice.margin_to_spare), *slice.margin_to_spare);
  }
  if (take_tensors(result) || take_worst(result, judged, GateStatus::kRejected)) return result;
  if (seen.samples < seen.all) {
    result.status = GateStatus::kUndecided;
    result.reason = GateReason::kUndecided;
    result.message = fmt::format("only {} of {} samples were judged", seen.samples, seen.all);
    return result;
  }
  if (take_worst(result, judged, GateStatus::kUndecided)) return result;
  result.status = GateStatus::kAdmissible;
  result.reason = GateReason::kNone;
  return result;
}

}  // namespace fiel
