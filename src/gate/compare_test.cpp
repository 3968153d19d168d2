#include "gate/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "gate/testing.h"

namespace fiel {
namespace {

using testing::floats;
using testing::integers;
using testing::kAllDTypes;
using testing::kAllMetrics;
using testing::kInfinity;
using testing::kNaN;
using testing::make_tensor;
using testing::widest;
using ::testing::HasSubstr;

TensorRule bounded(TensorMetric metric, double bound) {
  TensorRule rule;
  rule.output = "y";
  rule.metric = metric;
  if (higher_is_nearer(metric)) {
    rule.min = bound;
  } else {
    rule.max = bound;
  }
  return rule;
}

TensorRule allclose(double rtol, double atol) {
  TensorRule rule;
  rule.output = "y";
  rule.metric = TensorMetric::kAllclose;
  rule.rtol = rtol;
  rule.atol = atol;
  return rule;
}

TensorStatus status(const Tensor& reference, const Tensor& candidate, const TensorRule& rule) {
  return compare_tensor(reference.view(), candidate.view(), &rule).status;
}

TEST(Compare, EqualTensorsOfEveryDtypePassUnderEveryMetric) {
  for (const DType dtype : kAllDTypes) {
    const Tensor tensor = make_tensor(dtype, {2, 3}, {1, 0, 1, 0, 1, 1});
    for (const TensorMetric metric : kAllMetrics) {
      EXPECT_EQ(status(tensor, tensor, widest(metric)), TensorStatus::kPassed)
          << to_string(dtype) << ' ' << static_cast<int>(metric);
    }
    EXPECT_EQ(compare_tensor(tensor.view(), tensor.view(), nullptr).status, TensorStatus::kPassed);
  }
}

TEST(Compare, OneWrongElementOfEveryDtypeFailsAnExactRule) {
  for (const DType dtype : kAllDTypes) {
    const Tensor reference = make_tensor(dtype, {2, 3}, {1, 0, 1, 0, 1, 1});
    const Tensor candidate = make_tensor(dtype, {2, 3}, {1, 0, 1, 1, 1, 1});
    EXPECT_EQ(status(reference, candidate, allclose(0, 0)), TensorStatus::kRejected)
        << to_string(dtype);
    EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxAbs, 0.5)),
              TensorStatus::kRejected)
        << to_string(dtype);
    EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxAbs, 1)),
              TensorStatus::kPassed)
        << to_string(dtype);
    const auto compared = compare_tensor(reference.view(), candidate.view(), nullptr);
    EXPECT_EQ(compared.errors.worst_index, 3);
    EXPECT_EQ(compared.status,
              is_floating(dtype) ? TensorStatus::kPassed : TensorStatus::kRejected);
  }
}

TEST(Compare, AnotherDtypeRankOrShapeRejectsWithoutAnyRule) {
  const Tensor reference = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto fault = [&](const Tensor& candidate) {
    const auto compared = compare_tensor(reference.view(), candidate.view(), nullptr);
    EXPECT_EQ(compared.status, TensorStatus::kRejected);
    return compared.fault;
  };
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kFloat32) continue;
    EXPECT_EQ(fault(make_tensor(dtype, {2, 3}, {1, 2, 3, 4, 5, 6})), TensorFault::kDType);
  }
  EXPECT_EQ(fault(make_tensor(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6})), TensorFault::kShape);
  EXPECT_EQ(fault(make_tensor(DType::kFloat32, {6}, {1, 2, 3, 4, 5, 6})), TensorFault::kShape);
  EXPECT_EQ(fault(make_tensor(DType::kFloat32, {2, 3, 1}, {1, 2, 3, 4, 5, 6})),
            TensorFault::kShape);
  EXPECT_EQ(fault(make_tensor(DType::kFloat32, {1, 3}, {1, 2, 3})), TensorFault::kShape);
  Tensor cut = reference;
  cut.bytes.resize(20);
  EXPECT_EQ(fault(cut), TensorFault::kShape);
}

// Property: whatever the metric, the floating dtype, the length and the place, one value that is not finite rejects.
TEST(Compare, ANonFiniteValueAnywhereIsRejectedUnderEveryMetric) {
  Rng rng(7);
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (int round = 0; round < 60; ++round) {
      const std::size_t size = 1 + rng.below(round % 3 == 0 ? 3000 : 9);
      std::vector<double> values(size);
      for (double& x : values) x = static_cast<double>(rng.below(64));
      const Tensor reference = make_tensor(dtype, {static_cast<std::int64_t>(size)}, values);
      const std::array poisons{kNaN, kInfinity, -kInfinity};
      values[rng.below(size)] = poisons[rng.below(3)];
      const Tensor candidate = make_tensor(dtype, {static_cast<std::int64_t>(size)}, values);
      for (const TensorMetric metric : kAllMetrics) {
        for (const NonFinite policy : {NonFinite::kReject, NonFinite::kWhereReferenceIs}) {
          TensorRule rule = widest(metric);
          rule.non_finite = policy;
          const auto compared = compare_tensor(reference.view(), candidate.view(), &rule);
          ASSERT_EQ(compared.status, TensorStatus::kRejected);
          ASSERT_EQ(compared.fault, TensorFault::kNonFinite);
        }
      }
      ASSERT_EQ(compare_tensor(reference.view(), candidate.view(), nullptr).fault,
                TensorFault::kNonFinite);
    }
  }
}

TEST(Compare, AllNaNIsRejectedAndTheMessageNamesThePlace) {
  const auto compared = compare_tensor(floats({1, 2}).view(), floats({kNaN, kNaN}).view(), nullptr);
  EXPECT_EQ(compared.status, TensorStatus::kRejected);
  EXPECT_THAT(compared.message, HasSubstr("element 0 of [1, 2]: reference 1, candidate nan"));
}

TEST(Compare, ANonFiniteReferenceIsTheContractsFaultUnlessItIsAllowed) {
  const Tensor masked = floats({1, -kInfinity, 3, 5});
  EXPECT_EQ(compare_tensor(masked.view(), masked.view(), nullptr).status,
            TensorStatus::kBadReference);
  TensorRule rule = bounded(TensorMetric::kMaxAbs, 0.1);
  EXPECT_EQ(status(masked, masked, rule), TensorStatus::kBadReference);
  rule.non_finite = NonFinite::kWhereReferenceIs;
  EXPECT_EQ(status(masked, masked, rule), TensorStatus::kPassed);
  EXPECT_EQ(compare_tensor(masked.view(), masked.view(), &rule).errors.count, 3);
  // Only the same class at the same place will do, and the other elements are judged as ever.
  EXPECT_EQ(status(masked, floats({1, kInfinity, 3, 5}), rule), TensorStatus::kRejected);
  EXPECT_EQ(status(masked, floats({1, kNaN, 3, 5}), rule), TensorStatus::kRejected);
  EXPECT_EQ(status(masked, floats({1, -1e30, 3, 5}), rule), TensorStatus::kRejected);
  EXPECT_EQ(status(masked, floats({1, -kInfinity, -kInfinity, 5}), rule), TensorStatus::kRejected);
  EXPECT_EQ(status(masked, floats({1.2, -kInfinity, 3, 5}), rule), TensorStatus::kRejected);
}

TEST(Compare, StatisticsAreThoseOfTheirFormulas) {
  const auto compared = compare_tensor(floats({3, 4, 0}).view(), floats({3, 3, 0}).view(), nullptr);
  EXPECT_DOUBLE_EQ(compared.errors.max_abs, 1);
  EXPECT_DOUBLE_EQ(compared.errors.max_rel, 0.25);
  EXPECT_DOUBLE_EQ(compared.errors.l2, 0.2);
  EXPECT_NEAR(compared.errors.sqnr_db, 20 * std::log10(5.0), 1e-12);
  EXPECT_NEAR(*compared.errors.cosine, 21 / (5 * std::sqrt(18.0)), 1e-12);
  EXPECT_EQ(compared.errors.worst_index, 1);
}

TEST(Compare, LongTensorsGetTheSumsOfOneElementAfterAnother) {
  for (const int size : {1, 3, 4, 5, 1023, 1024, 1025, 3001}) {
    Rng rng(static_cast<std::uint64_t>(size));
    std::vector<double> r, a;
    for (int i = 0; i < size; ++i) {
      r.push_back(static_cast<float>(i % 7 == 3 ? 0 : rng.uniform01() - 0.5));
      a.push_back(static_cast<float>(r.back() + 1e-3 * (rng.uniform01() - 0.5)));
    }
    r.back() = 0.125;  // the largest relative error comes last, behind many blocks with smaller ones
    a.back() = 1024;
    double ee = 0, rr = 0, max_rel = 0;
    TensorTraits traits{.count = size};
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double e = std::abs(a[i] - r[i]);
      ee += e * e;
      rr += r[i] * r[i];
      if (e > 0) max_rel = std::max(max_rel, e / std::max(std::abs(r[i]), double{std::numeric_limits<float>::min()}));
      traits.zeros += r[i] == 0 ? 1 : 0;
      traits.min = std::min(traits.min, r[i]);
      traits.max = std::max(traits.max, r[i]);
    }
    const Tensor reference = make_tensor(DType::kFloat32, {size}, r);
    const auto compared = compare_tensor(reference.view(), make_tensor(DType::kFloat32, {size}, a).view(), nullptr);
    EXPECT_NEAR(compared.errors.l2, std::sqrt(ee / rr), 1e-9 * std::sqrt(ee / rr)) << size;
    EXPECT_DOUBLE_EQ(compared.errors.max_rel, max_rel) << size;
    EXPECT_EQ(compared.errors.max_abs, 1023.875) << size;
    for (const TensorTraits& found : {compared.reference, tensor_traits(reference.view())}) {
      EXPECT_EQ(std::tie(found.count, found.zeros, found.min, found.max),
                std::tie(traits.count, traits.zeros, traits.min, traits.max)) << size;
    }
  }
}

TEST(Compare, BoundsHoldAtTheBoundItself) {
  const Tensor reference = floats({3, 4, 1});
  const Tensor candidate = floats({3, 3, 1});
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxAbs, 1)), TensorStatus::kPassed);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxAbs, 0.999)),
            TensorStatus::kRejected);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxRel, 0.25)),
            TensorStatus::kPassed);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxRel, 0.24)),
            TensorStatus::kRejected);
  EXPECT_EQ(status(reference, candidate, allclose(0.25, 0)), TensorStatus::kPassed);
  EXPECT_EQ(status(reference, candidate, allclose(0.2, 0.1)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kCosine, 0.999)),
            TensorStatus::kRejected);
}

TEST(Compare, ArgmaxAgreementIsTheShareOfRows) {
  const Tensor reference = make_tensor(DType::kFloat32, {1, 3, 2}, {0, 1, 1, 0, 2, 3});
  const Tensor candidate = make_tensor(DType::kFloat32, {1, 3, 2}, {0, 2, 3, 9, 1, 3});
  const TensorRule rule = bounded(TensorMetric::kArgmaxAgreement, 0.6);
  const auto compared = compare_tensor(reference.view(), candidate.view(), &rule);
  EXPECT_EQ(compared.status, TensorStatus::kPassed);
  EXPECT_DOUBLE_EQ(*compared.errors.argmax_agreement, 2.0 / 3);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kArgmaxAgreement, 0.67)),
            TensorStatus::kRejected);
}

TEST(Compare, AnArgmaxOfOneElementProvesNothing) {
  const TensorRule rule = bounded(TensorMetric::kArgmaxAgreement, 1);
  EXPECT_EQ(status(floats({3}), floats({-9}), rule), TensorStatus::kMistrusted);
  EXPECT_EQ(status(integers({3}), integers({4}), rule), TensorStatus::kMistrusted);
}

TEST(Compare, ZeroDenormalAndNegativeZeroReferencesNeverMakeNaN) {
  const double denormal = 1e-40;
  const auto errors = [](double reference, double candidate) {
    return compare_tensor(floats({reference}).view(), floats({candidate}).view(), nullptr).errors;
  };
  EXPECT_EQ(errors(-0.0, 0.0).max_rel, 0);
  EXPECT_EQ(errors(denormal, 0.0).max_rel, 0);  // flushed by the engine
  EXPECT_EQ(errors(0.0, denormal).max_rel, 0);
  EXPECT_GT(errors(0.0, 1e-3).max_rel, 1e30);
  EXPECT_TRUE(std::isfinite(errors(0.0, 1e-3).max_rel));
  EXPECT_EQ(errors(0.0, 0.0).l2, 0);
  EXPECT_EQ(errors(0.0, 0.0).sqnr_db, kInfinity);
  EXPECT_EQ(errors(0.0, 1.0).l2, kInfinity);
  EXPECT_EQ(errors(0.0, 1.0).sqnr_db, -kInfinity);
  EXPECT_EQ(errors(0.0, 1.0).cosine, std::nullopt);
  EXPECT_EQ(status(floats({0}), floats({1}), bounded(TensorMetric::kCosine, 0.9)),
            TensorStatus::kRejected);
}

TEST(Compare, HugeAndTinyFloat64KeepDefinedRatios) {
  const auto scaled = [](double factor) {
    const Tensor reference = make_tensor(DType::kFloat64, {2}, {3 * factor, 4 * factor});
    const Tensor candidate = make_tensor(DType::kFloat64, {2}, {3 * factor, 3 * factor});
    return compare_tensor(reference.view(), candidate.view(), nullptr).errors;
  };
  for (const double factor : {1e-320, 1e-200, 1e200, 4e307}) {
    EXPECT_NEAR(scaled(factor).l2, 0.2, 1e-3) << factor;
    EXPECT_NEAR(scaled(factor).cosine.value(), 21 / (5 * std::sqrt(18.0)), 1e-3) << factor;
  }
}

TEST(Compare, IntegersBeyondTheReachOfDoublesAreComparedExactly) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const Tensor reference = integers({big, 7});
  const Tensor candidate = integers({big - 1, 7});
  const auto compared = compare_tensor(reference.view(), candidate.view(), nullptr);
  EXPECT_EQ(compared.status, TensorStatus::kRejected);
  EXPECT_THAT(compared.message, HasSubstr("reference 9007199254740993, candidate 9007199254740992"));
  EXPECT_EQ(status(reference, candidate, allclose(0, 0)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, candidate, bounded(TensorMetric::kMaxAbs, 1)), TensorStatus::kPassed);
  EXPECT_EQ(compare_tensor(reference.view(), candidate.view(), nullptr, WithoutRule::kTaskDecides)
                .status,
            TensorStatus::kPassed);
  const Tensor lowest = integers({INT64_MIN});
  const Tensor highest = integers({INT64_MAX});
  EXPECT_EQ(compare_tensor(lowest.view(), highest.view(), nullptr).errors.max_abs, 0x1p64);
}

TEST(Compare, BoolsAreTrueForAnyByteButZero) {
  Tensor reference = make_tensor(DType::kBool, {3}, {1, 0, 1});
  Tensor candidate = reference;
  candidate.bytes[0] = std::byte{255};
  EXPECT_EQ(compare_tensor(reference.view(), candidate.view(), nullptr).status,
            TensorStatus::kPassed);
  candidate.bytes[1] = std::byte{2};
  EXPECT_EQ(compare_tensor(reference.view(), candidate.view(), nullptr).status,
            TensorStatus::kRejected);
}

TEST(Compare, AReferenceThatProvesNothingVoidsItsRule) {
  const TensorRule rule = bounded(TensorMetric::kCosine, 0.99);
  EXPECT_EQ(status(floats({2, 2, 2}), floats({9, -9, 2}), rule), TensorStatus::kMistrusted);
  EXPECT_EQ(status(floats({0, 0, 0}), floats({0, 0, 0}), rule), TensorStatus::kMistrusted);
  EXPECT_EQ(status(floats({0, 0, 1}), floats({5, 0, 1}), rule), TensorStatus::kMistrusted);
  EXPECT_EQ(status(floats({0, 0, 1, 2}), floats({5, 0, 1, 2}), rule), TensorStatus::kRejected);
  EXPECT_EQ(status(floats({1, 2}), floats({1, 2}), allclose(0, 0.11)), TensorStatus::kMistrusted);
  EXPECT_EQ(status(floats({1, 2}), floats({1, 2}), allclose(0, 0.1)), TensorStatus::kPassed);
  // One element alone is not "constant", and a wrong constant with NaN in it is still wrong.
  EXPECT_EQ(status(floats({2}), floats({3}), bounded(TensorMetric::kMaxAbs, 0.5)),
            TensorStatus::kRejected);
  EXPECT_EQ(status(floats({2, 2}), floats({2, kNaN}), rule), TensorStatus::kRejected);
  // An exact comparison of a constant mask does prove something.
  EXPECT_EQ(status(integers({0, 0, 0}), integers({0, 1, 0}), allclose(0, 0)),
            TensorStatus::kRejected);
}

TEST(Compare, ZerosInsteadOfAnAnswerFailEveryMetric) {
  const Tensor reference = floats({0.1, 0.7, 0.2});
  const Tensor zeros = floats({0, 0, 0});
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kMaxAbs, 0.5)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kMaxRel, 0.9)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kL2, 0.9)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kSqnr, 1)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kCosine, -1)), TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, bounded(TensorMetric::kArgmaxAgreement, 1)),
            TensorStatus::kRejected);
  EXPECT_EQ(status(reference, zeros, allclose(0.1, 0.01)), TensorStatus::kRejected);
}

TEST(Compare, EmptyAndScalarTensorsAreDefined) {
  for (const DType dtype : kAllDTypes) {
    const Tensor empty = make_tensor(dtype, {2, 0, 3}, {});
    EXPECT_EQ(compare_tensor(empty.view(), empty.view(), nullptr).status, TensorStatus::kPassed);
    const Tensor narrower = make_tensor(dtype, {2, 0, 4}, {});
    EXPECT_EQ(compare_tensor(empty.view(), narrower.view(), nullptr).status,
              TensorStatus::kRejected);
    const Tensor one = make_tensor(dtype, {}, {1});
    const Tensor zero = make_tensor(dtype, {}, {0});
    EXPECT_EQ(status(one, one, bounded(TensorMetric::kMaxAbs, 0)), TensorStatus::kPassed);
    EXPECT_EQ(status(one, zero, bounded(TensorMetric::kMaxAbs, 0)), TensorStatus::kRejected);
  }
  EXPECT_EQ(status(floats({}), floats({}), bounded(TensorMetric::kCosine, 1)),
            TensorStatus::kMistrusted);
}

TEST(Compare, TraitsOfSeveralSamplesAddUp) {
  TensorTraits traits = tensor_traits(floats({2}).view());
  const TensorRule rule = bounded(TensorMetric::kMaxAbs, 0.5);
  EXPECT_EQ(reason_to_mistrust(traits, rule), std::nullopt);
  traits.merge(tensor_traits(floats({2}).view()));
  EXPECT_THAT(reason_to_mistrust(traits, rule).value(), HasSubstr("constant (2)"));
  traits.merge(tensor_traits(floats({3}).view()));
  EXPECT_EQ(reason_to_mistrust(traits, rule), std::nullopt);
}

}  // namespace
}  // namespace fiel
