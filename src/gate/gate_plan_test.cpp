#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "gate/gate.h"

namespace fiel {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SampleSet set_of(const std::map<std::string, int>& slices) {
  SampleSet set;
  for (const auto& [slice, count] : slices) {
    for (int i = 0; i < count; ++i) {
      Sample sample;
      sample.slice = slice;
      set.samples.push_back(sample);
    }
  }
  return set;
}

std::map<std::string, int> count(const SampleSet& set, std::span<const int> indices) {
  std::map<std::string, int> counts;
  for (const int i : indices) ++counts[set.samples[static_cast<std::size_t>(i)].slice];
  return counts;
}

// Sets without groups: every sample is a unit.
Units of(const std::map<std::string, std::int64_t>& by_slice) {
  Units units{.all = 0, .by_slice = by_slice};
  for (const auto& [slice, count] : by_slice) units.all += count;
  return units;
}

TEST(StratifiedOrder, EveryPrefixHoldsEachSliceInItsShare) {
  const SampleSet set = set_of({{"", 600}, {"small", 300}, {"rare", 5}, {"rotated", 95}});
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto order = stratified_order(set, seed);
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 1000U);
    for (const std::size_t size : {64U, 256U, 500U}) {
      const auto counts = count(set, std::span(order).first(size));
      EXPECT_NEAR(counts.at(""), 0.6 * double(size), 3);
      EXPECT_NEAR(counts.at("small"), 0.3 * double(size), 3);
      EXPECT_NEAR(counts.at("rotated"), 0.095 * double(size), 3);
      EXPECT_GE(counts.at("rare"), 1);
    }
    EXPECT_THAT(count(set, std::span(order).first(4)), SizeIs(4));  // one of each at once
  }
}

TEST(StratifiedOrder, IsTheSeedsAndNotThePositions) {
  const SampleSet set = set_of({{"a", 50}, {"b", 50}});
  EXPECT_EQ(stratified_order(set, 1), stratified_order(set, 1));
  EXPECT_NE(stratified_order(set, 1), stratified_order(set, 2));
  EXPECT_THAT(stratified_order(SampleSet(), 1), IsEmpty());
}

Contract contract_with(BuiltinEvaluator evaluator, double max_drop) {
  Contract contract;
  TaskRule task;
  task.name = "t";
  task.builtin = evaluator;
  task.margin.max_drop = max_drop;
  contract.accuracy.tasks = {task};
  return contract;
}

// Methodology D1: 299, 598, 2995 samples for 1, 0.5, 0.1 % with zero losses.
TEST(Undecidable, NamesEachSliceThatCouldNotBeProvenWithZeroLosses) {
  for (const auto& [margin, needed] : std::map<double, std::int64_t>{{0.01, 299}, {0.005, 598}, {0.001, 2995}}) {
    const Contract contract = contract_with(BuiltinEvaluator::kTop1, margin);
    EXPECT_THAT(undecidable(contract, of({{"", needed}}), 0.05), IsEmpty());
    const auto gaps = undecidable(contract, of({{"", needed - 1}}), 0.05);
    ASSERT_THAT(gaps, SizeIs(1));
    EXPECT_EQ(gaps[0].n_needed, needed);
    EXPECT_EQ(gaps[0].n, needed - 1);
  }
  Contract contract = contract_with(BuiltinEvaluator::kTop1, 0.01);
  contract.accuracy.tasks[0].slices["small"].max_drop = 0.03;
  contract.accuracy.tasks[0].slices["absent"].max_drop = 0.5;
  const auto gaps = undecidable(contract, of({{"", 500}, {"small", 60}}), 0.05);
  ASSERT_THAT(gaps, SizeIs(2));
  EXPECT_EQ(gaps[0].slice, "absent");
  EXPECT_EQ(gaps[0].n, 0);
  EXPECT_EQ(gaps[1].slice, "small");
  EXPECT_EQ(gaps[1].n_needed, 99);  // ln 0.05 / ln 0.97 = 98.4
  EXPECT_THAT(describe(gaps[1]), HasSubstr("60 samples prove nothing within 0.03"));
}

TEST(Undecidable, RelativeMarginsFloorsAndProgramsAreNeverRefusedWithoutNeed) {
  Contract contract = contract_with(BuiltinEvaluator::kTop1, 0.01);
  contract.accuracy.tasks[0].margin = {};
  contract.accuracy.tasks[0].margin.max_drop_relative = 0.01;
  EXPECT_THAT(undecidable(contract, of({{"", 299}}), 0.05), IsEmpty());
  EXPECT_THAT(undecidable(contract, of({{"", 299}}), 0.05, {{"t", 0.5}}), SizeIs(1));
  contract.accuracy.tasks[0].margin = {};
  contract.accuracy.tasks[0].margin.min_score = 0.9;  // ln 0.05 / ln 0.9 = 28.4
  EXPECT_THAT(undecidable(contract, of({{"", 29}}), 0.05), IsEmpty());
  EXPECT_THAT(undecidable(contract, of({{"", 28}}), 0.05), SizeIs(1));
  Contract error = contract_with(BuiltinEvaluator::kAbsoluteError, 0.001);
  EXPECT_THAT(undecidable(error, of({{"", 20}}), 0.05), IsEmpty());  // its scale is unknown
}

TEST(Undecidable, AMarginOfZeroCannotBeProvenByAnyNumber) {
  const auto gaps = undecidable(contract_with(BuiltinEvaluator::kTop1, 0), of({{"", 1'000'000}}), 0.05);
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(gaps[0].n_needed, 0);
  EXPECT_THAT(describe(gaps[0]), HasSubstr("no number of samples"));
}

}  // namespace
}  // namespace fiel
