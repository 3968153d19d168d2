#include "decide/ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<NodeCost>& order) {
  std::vector<std::string> all;
  for (const NodeCost& node : order) all.push_back(node.name);
  return all;
}

TEST(Ladder, ANodeThatLosesMuchForItsTimeGoesBackFirst) {
  EXPECT_THAT(names(float_order({{"cheap", 0.01, 1}, {"dear", 0.03, 10}, {"harmless", 0, 5}, {"worst", 0.5, 2}})),
              ElementsAre("worst", "cheap", "dear", "harmless"));
}

TEST(Ladder, WorkOfNothingIsNoReasonToGoFirst) {
  EXPECT_THAT(names(float_order({{"tiny", 1e-7, 0}, {"worst", 0.5, 50}, {"other", 1e-3, 50}})), ElementsAre("worst", "other", "tiny"));
  EXPECT_THAT(names(float_order({{"a", 1, 0}, {"b", 2, 0}})), ElementsAre("b", "a"));  // where work is not known
}

TEST(Ladder, WorkIsTheTimeThatWasMeasuredAndProductsAtItsRateElsewhere) {
  const std::optional<double> unknown;
  EXPECT_THAT(work_of(std::vector<double>{100, 300, 50}, std::vector{std::optional(0.002), std::optional(0.002), unknown}),
              ElementsAre(0.002, 0.002, 0.0005));
  EXPECT_THAT(work_of(std::vector<double>{100, 300}, std::vector{unknown, unknown}), ElementsAre(100, 300));
  EXPECT_THAT(work_of(std::vector<double>{0, 300}, std::vector{std::optional(0.5), unknown}), ElementsAre(0, 300));  // no rate
}

TEST(Ladder, EachStepIsTheBestKnapsackOfItsSize) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<NodeCost> nodes;
    for (int i = 0; i < 8; ++i) {
      nodes.push_back({"n" + std::to_string(i), std::exp(static_cast<double>(random() % 1000) / 100), 1.0 + static_cast<double>(random() % 50)});
    }
    const auto order = float_order(nodes);
    double all = 0;
    for (const NodeCost& node : nodes) all += node.work;
    const auto cost = [&](const NodeCost& node) { return node.work + 0.1 * all / 8; };
    for (int k = 1; k < 8; ++k) {
      double taken = 0, size = 0, best = 0;
      for (int i = 0; i < k; ++i) {
        taken += order[static_cast<std::size_t>(i)].loss;
        size += cost(order[static_cast<std::size_t>(i)]);
      }
      for (int choice = 0; choice < 256; ++choice) {
        double loss = 0, used = 0;
        for (int i = 0; i < 8; ++i) {
          if ((choice >> i & 1) == 0) continue;
          loss += nodes[static_cast<std::size_t>(i)].loss;
          used += cost(nodes[static_cast<std::size_t>(i)]);
        }
        if (used <= size + 1e-9) best = std::max(best, loss);
      }
      EXPECT_NEAR(taken, best, 1e-9 * best) << "trial " << trial << ", step " << k;
    }
  }
}

TEST(Ladder, StepsAreDenseWhereFewNodesCarryTheLoss) {
  EXPECT_THAT(ladder_steps(0), IsEmpty());
  EXPECT_THAT(ladder_steps(1), IsEmpty());
  EXPECT_THAT(ladder_steps(2), ElementsAre(1));
  EXPECT_THAT(ladder_steps(4), ElementsAre(1, 2, 3));
  EXPECT_THAT(ladder_steps(47), ElementsAre(1, 2, 3, 5, 8, 13, 21, 35));
  EXPECT_THAT(ladder_steps(200), ElementsAre(1, 2, 4, 9, 18, 36, 73, 150));
}

TEST(Ladder, NodesAreMeasuredFromBothEndsAndFromTheNoisiestOn) {
  EXPECT_THAT(likeliest_first({}), IsEmpty());
  const std::vector<double> noise = {0.1, 0.2, 0.3, 0.9, 0.8, 0.4, 0.1};
  EXPECT_THAT(likeliest_first(noise), ElementsAre(0, 3, 6, 1, 4, 5, 2));
}

TEST(Ladder, OfAStepsNodesTheOneWithTheMostWorkComesFirst) {
  const std::vector<NodeCost> order = {{"a", 3, 1}, {"b", 2, 9}, {"c", 1, 4}, {"d", 0, 99}};
  EXPECT_THAT(by_work(order, 3), ElementsAre("b", "c", "a"));
  EXPECT_THAT(by_work(order, 9), ElementsAre("d", "b", "c", "a"));
}

}  // namespace
}  // namespace fiel
