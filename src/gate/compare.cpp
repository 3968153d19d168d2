#include "gate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/argmax.h"
#include "gate/elements.h"
#include "gate/error_sums.h"

namespace fiel {
namespace {

constexpr double kMostlyZeros = 0.5;    // benchdnn's limit for "too many zeros to prove anything"
constexpr double kRangeInAtols = 10.0;  // a range of few tolerances passes whatever the values are

enum class NumberClass { kFinite, kNaN, kPlusInfinity, kMinusInfinity };

NumberClass class_of(double x) {
  if (std::isfinite(x)) return NumberClass::kFinite;
  if (std::isnan(x)) return NumberClass::kNaN;
  return x > 0 ? NumberClass::kPlusInfinity : NumberClass::kMinusInfinity;
}

std::string element_text(const TensorView& tensor, std::int64_t index) {
  if (is_floating(tensor.dtype)) return fmt::format("{}", element(tensor, index));
  const std::int64_t value = integer_element(tensor, index);
  if (tensor.dtype == DType::kUInt64) return fmt::format("{}", static_cast<std::uint64_t>(value));
  return fmt::format("{}", value);
}

std::string at_element(const TensorView& reference, const TensorView& candidate,
                       std::int64_t index) {
  return fmt::format("element {} of {}: reference {}, candidate {}", index,
                     to_string(reference.shape), element_text(reference, index),
                     element_text(candidate, index));
}

TensorComparison& reject(TensorComparison& result, TensorFault fault, std::string message) {
  result.status = TensorStatus::kRejected;
  result.fault = fault;
  result.message = std::move(message);
  return result;
}

// True where the comparison has to end here.
bool form_differs(TensorComparison& result, const TensorView& reference,
                  const TensorView& candidate) {
  if (reference.dtype != candidate.dtype) {
    reject(result, TensorFault::kDType,
           fmt::format("dtype {} instead of {}", to_string(candidate.dtype),
                       to_string(reference.dtype)));
    return true;
  }
  const std::size_t size = element_size(candidate.dtype);
  const auto count = element_count(candidate.shape);
  if (reference.shape != candidate.shape || !count ||
      static_cast<std::size_t>(*count) * size != candidate.bytes.size() ||
      reference.bytes.size() != candidate.bytes.size()) {
    reject(result, TensorFault::kShape,
           fmt::format("shape {} ({} bytes) instead of {} ({} bytes)", to_string(candidate.shape),
                       candidate.bytes.size(), to_string(reference.shape),
                       reference.bytes.size()));
    return true;
  }
  return false;
}

// True where the comparison has to end here: something is not finite, and no rule allows exactly that.
bool non_finite_decides(TensorComparison& result, const TensorView& reference,
                        const TensorView& candidate, const TensorRule* rule) {
  const bool allowed = rule != nullptr && rule->non_finite == NonFinite::kWhereReferenceIs;
  const std::int64_t count = *element_count(reference.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const NumberClass r = class_of(element(reference, i));
    if (r != NumberClass::kFinite && !allowed) {
      result.status = TensorStatus::kBadReference;
      result.fault = TensorFault::kNonFinite;
      result.message = fmt::format("the reference is {} at element {} of {}",
                                   element_text(reference, i), i, to_string(reference.shape));
      return true;
    }
    if (class_of(element(candidate, i)) != r) {
      reject(result, TensorFault::kNonFinite, at_element(reference, candidate, i));
      return true;
    }
  }
  return false;
}

TensorErrors errors_from(const detail::ErrorSums& sums, std::int64_t count) {
  TensorErrors errors{.count = count,
                      .max_abs = sums.max_abs,
                      .max_rel = sums.max_rel,
                      .cosine = {},
                      .argmax_agreement = {},
                      .violations = sums.violations,
                      .worst_index = sums.worst_index};
  // No error is no error, also where the reference is zero.
  if (sums.ee > 0) {
    const double ratio = sums.ee / sums.rr;  // infinite where the reference is zero
    errors.l2 = std::sqrt(ratio);
    errors.sqnr_db = -10.0 * std::log10(ratio);
  }
  if (sums.rr > 0 && sums.aa > 0) {
    errors.cosine = std::clamp(sums.ra / (std::sqrt(sums.rr) * std::sqrt(sums.aa)), -1.0, 1.0);
  }
  return errors;
}

double agreement(const TensorView& reference, const TensorView& candidate) {
  const auto r = argmax_rows(reference);
  const auto a = argmax_rows(candidate);
  if (r.empty()) return 1;
  std::int64_t same = 0;
  for (std::size_t i = 0; i < r.size(); ++i) same += r[i] == a[i] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(r.size());
}

std::string_view unit(TensorMetric metric) { return metric == TensorMetric::kSqnr ? " dB" : ""; }

void apply_rule(TensorComparison& result, const TensorView& reference, const TensorView& candidate,
                const TensorRule& rule) {
  if (is_floating(reference.dtype)) {
    if (auto reason = reason_to_mistrust(result.reference, rule)) {
      result.status = TensorStatus::kMistrusted;
      result.message = *std::move(reason);
      return;
    }
  }
  const bool one_class = reference.shape.empty() || reference.shape.back() <= 1;
  if (rule.metric == TensorMetric::kArgmaxAgreement && one_class) {
    result.status = TensorStatus::kMistrusted;
    result.message = "the argmax of one element is always the same";
    return;
  }
  const TensorErrors& errors = result.errors;
  const double value = result.value(rule);
  if (rule.metric == TensorMetric::kAllclose) {
    if (errors.violations == 0) return;
    reject(result, TensorFault::kRule,
           fmt::format("allclose(rtol {}, atol {}) fails at {} of {} elements; worst is {}",
                       rule.rtol, rule.atol, errors.violations, errors.count,
                       at_element(reference, candidate, errors.worst_index)));
  } else if (std::isnan(value)) {
    reject(result, TensorFault::kRule,
           fmt::format("{} is undefined (a norm is zero)", to_string(rule.metric)));
  } else if (rule.min && !(value >= *rule.min)) {
    reject(result, TensorFault::kRule,
           fmt::format("{} {:.6g}{} is below {:.6g}", to_string(rule.metric), value,
                       unit(rule.metric), *rule.min));
  } else if (rule.max && !(value <= *rule.max)) {
    reject(result, TensorFault::kRule,
           fmt::format("{} {:.6g}{} is above {:.6g}", to_string(rule.metric), value,
                       unit(rule.metric), *rule.max));
  }
}

}  // namespace

std::string_view to_string(TensorStatus status) {
  switch (status) {
    case TensorStatus::kPassed: return "passed";
    case TensorStatus::kMistrusted: return "mistrusted";
    case TensorStatus::kRejected: return "rejected";
    case TensorStatus::kBadReference: return "bad_reference";
  }
  return "unknown";
}

std::string_view to_string(TensorFault fault) {
  switch (fault) {
    case TensorFault::kNone: return "none";
    case TensorFault::kDType: return "dtype";
    case TensorFault::kShape: return "shape";
    case TensorFault::kNonFinite: return "non_finite";
    case TensorFault::kRule: return "rule";
  }
  return "unknown";
}

bool higher_is_nearer(TensorMetric metric) {
  return metric == TensorMetric::kCosine || metric == TensorMetric::kSqnr ||
         metric == TensorMetric::kArgmaxAgreement;
}

void TensorTraits::merge(const TensorTraits& other) {
  count += other.count;
  zeros += other.zeros;
  non_finite += other.non_finite;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

TensorTraits tensor_traits(const TensorView& tensor) {
  TensorTraits traits;
  traits.count = element_count(tensor.shape).value_or(0);
  if (const auto range = detail::value_range(tensor); range.finite && traits.count > 0) {
    traits.zeros = range.zeros;
    traits.min = range.min;
    traits.max = range.max;
    return traits;
  }
  detail::with_kind(tensor.dtype, [&]<class K>(K) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(traits.count); ++i) {
      const auto x = static_cast<double>(detail::load<K>(tensor.bytes.data(), i));
      if (!std::isfinite(x)) {
        ++traits.non_finite;
        continue;
      }
      traits.zeros += x == 0 ? 1 : 0;
      traits.min = x < traits.min ? x : traits.min;
      traits.max = x > traits.max ? x : traits.max;
    }
  });
  return traits;
}

std::optional<std::string> reason_to_mistrust(const TensorTraits& reference,
                                              const TensorRule& rule) {
  const std::int64_t finite = reference.count - reference.non_finite;
  if (finite <= 0) return "the reference has no finite elements";
  if (finite == 1) return std::nullopt;
  if (!(reference.min < reference.max)) {
    return fmt::format("the reference is constant ({})", reference.min);
  }
  const double zeros = static_cast<double>(reference.zeros) / static_cast<double>(finite);
  if (zeros > kMostlyZeros) {
    return fmt::format("{:.0f} % of the reference are zeros", 100 * zeros);
  }
  if (reference.max - reference.min < kRangeInAtols * rule.atol) {
    return fmt::format("the reference's range {:.3g} is below ten times atol {:.3g}",
                       reference.max - reference.min, rule.atol);
  }
  return std::nullopt;
}

double TensorComparison::value(const TensorRule& rule) const {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  switch (rule.metric) {
    case TensorMetric::kMaxAbs: return errors.max_abs;
    case TensorMetric::kMaxRel: return errors.max_rel;
    case TensorMetric::kAllclose: return static_cast<double>(errors.violations);
    case TensorMetric::kL2: return errors.l2;
    case TensorMetric::kCosine: return errors.cosine.value_or(kUndefined);
    case TensorMetric::kSqnr: return errors.sqnr_db;
    case TensorMetric::kArgmaxAgreement: return errors.argmax_agreement.value_or(kUndefined);
  }
  return kUndefined;
}

TensorComparison compare_tensor(const TensorView& reference, const TensorView& candidate,
                                const TensorRule* rule, WithoutRule without_rule) {
  TensorComparison result;
  if (form_differs(result, reference, candidate)) return result;

  const detail::Tolerance tolerance{rule != nullptr ? rule->rtol : 0,
                                    rule != nullptr ? rule->atol : 0};
  auto sums =
      detail::error_sums(reference, candidate, tolerance, detail::NonFinitePairs::kSeen);
  result.reference = {.count = *element_count(reference.shape),
                      .zeros = sums.zeros,
                      .min = sums.min,
                      .max = sums.max};
  if (!sums.reference_finite || !sums.candidate_finite) {
    result.reference = tensor_traits(reference);
    if (non_finite_decides(result, reference, candidate, rule)) return result;
    sums = detail::error_sums(reference, candidate, tolerance, detail::NonFinitePairs::kSkipped);
  }
  result.errors = errors_from(sums, result.reference.count - result.reference.non_finite);
  if (rule != nullptr) {
    if (rule->metric == TensorMetric::kArgmaxAgreement) {
      result.errors.argmax_agreement = agreement(reference, candidate);
    }
    apply_rule(result, reference, candidate, *rule);
  } else if (!is_floating(reference.dtype) && without_rule == WithoutRule::kIntegersExact &&
             result.errors.violations != 0) {
    reject(result, TensorFault::kRule,
           fmt::format("{} of {} integers differ; worst is {}", result.errors.violations,
                       result.errors.count,
                       at_element(reference, candidate, result.errors.worst_index)));
  }
  return result;
}

}  // namespace fiel
