// The words of a contract that stand for a choice, and what follows from a choice by itself.
#include <array>

#include "contract/contract.h"

namespace fiel {

std::string_view to_string(Scenario scenario) {
  switch (scenario) {
    case Scenario::kSingleStream:
      return "single_stream";
    case Scenario::kOffline:
      return "offline";
    case Scenario::kServer:
      return "server";
  }
  return "unknown";
}

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::kLatencyMean:
      return "latency_mean";
    case Objective::kLatencyP50:
      return "latency_p50";
    case Objective::kLatencyP90:
      return "latency_p90";
    case Objective::kLatencyP99:
      return "latency_p99";
    case Objective::kThroughput:
      return "throughput";
  }
  return "unknown";
}

std::string_view to_string(Claim claim) {
  switch (claim) {
    case Claim::kFutureData:
      return "future_data";
    case Claim::kThisSet:
      return "this_set";
  }
  return "unknown";
}

std::string_view to_string(ReferenceKind reference) {
  switch (reference) {
    case ReferenceKind::kFloat32:
      return "float32";
    case ReferenceKind::kBaseline:
      return "baseline";
    case ReferenceKind::kFiles:
      return "files";
  }
  return "unknown";
}

std::string_view to_string(TensorMetric metric) {
  switch (metric) {
    case TensorMetric::kMaxAbs:
      return "max_abs";
    case TensorMetric::kMaxRel:
      return "max_rel";
    case TensorMetric::kAllclose:
      return "allclose";
    case TensorMetric::kL2:
      return "l2";
    case TensorMetric::kCosine:
      return "cosine";
    case TensorMetric::kSqnr:
      return "sqnr";
    case TensorMetric::kArgmaxAgreement:
      return "argmax_agreement";
  }
  return "unknown";
}

std::string_view to_string(BuiltinEvaluator evaluator) {
  switch (evaluator) {
    case BuiltinEvaluator::kTop1:
      return "top1";
    case BuiltinEvaluator::kTop5:
      return "top5";
    case BuiltinEvaluator::kBinary:
      return "binary";
    case BuiltinEvaluator::kAbsoluteError:
      return "absolute_error";
    case BuiltinEvaluator::kAgreement:
      return "agreement";
    case BuiltinEvaluator::kEmbeddingCosine:
      return "embedding_cosine";
  }
  return "unknown";
}

std::optional<TensorMetric> parse_tensor_metric(std::string_view name) {
  for (const auto metric :
       {TensorMetric::kMaxAbs, TensorMetric::kMaxRel, TensorMetric::kAllclose, TensorMetric::kL2,
        TensorMetric::kCosine, TensorMetric::kSqnr, TensorMetric::kArgmaxAgreement}) {
    if (to_string(metric) == name) return metric;
  }
  return std::nullopt;
}

std::optional<BuiltinEvaluator> parse_builtin_evaluator(std::string_view name) {
  for (const auto evaluator : {BuiltinEvaluator::kTop1, BuiltinEvaluator::kTop5,
                               BuiltinEvaluator::kBinary, BuiltinEvaluator::kAbsoluteError,
                               BuiltinEvaluator::kAgreement, BuiltinEvaluator::kEmbeddingCosine}) {
    if (to_string(evaluator) == name) return evaluator;
  }
  return std::nullopt;
}

bool needs_reference(BuiltinEvaluator evaluator) {
  return evaluator == BuiltinEvaluator::kAgreement ||
         evaluator == BuiltinEvaluator::kEmbeddingCosine;
}

bool needs_labels(BuiltinEvaluator evaluator) { return !needs_reference(evaluator); }

}  // namespace fiel
