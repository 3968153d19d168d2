#include "search/surrogate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "route/test_space.h"

namespace fiel {
namespace {

Space cube() {
  EngineSpace engine{.engine = "alpha", .knobs = {}, .forbidden = {}};
  for (const char* name : {"a", "b", "c", "d"}) engine.knobs.push_back(example_knob(name, {"x", "y", "z"}));
  return *Space::create({engine});
}

std::vector<Levels> all_levels(const Space& space, const Features& features) {
  std::vector<Levels> all;
  space.enumerate([&](const BuildRoute& route) {
    all.push_back(features.levels_of(route));
    return true;
  });
  return all;
}

// a and b act together, c alone, d not at all.
double time_of(const Levels& levels) {
  return 0.3 * levels[1] + (levels[1] == 3 && levels[2] == 2 ? -1.5 : 0.0) + 0.2 * levels[3];
}

Surrogate::Point point_of(const Levels& levels) { return {levels, {time_of(levels), levels[3] == 3 ? 0.0 : 1.0, 1.0}}; }

TEST(Features, EnginesShareTheColumnsOfKnobsOfOneName) {
  const Space space = example_space();
  const Features features(space);
  EXPECT_EQ(features.columns(), 1u + 5 + 1);  // engine; streams, variant, shape, cache, cache_size; level
  const Levels alpha = features.levels_of({"alpha", {{"variant", "int8"}}}), beta = features.levels_of({"beta", {}});
  std::size_t lacking = 0;
  for (std::size_t column = 1; column < features.columns(); ++column) lacking += beta[column] == 0 ? 1 : 0;
  EXPECT_EQ(lacking, 4u);  // streams, shape, cache, cache_size
  EXPECT_NE(alpha, features.levels_of({"alpha", {}}));
  // With static shapes the cache does not count.
  const Levels fixed = features.levels_of({"alpha", {{"shape", "static"}}});
  EXPECT_EQ(std::ranges::count(fixed, 0), 4);  // engine number 0, cache, cache_size, level
}

TEST(Features, NumbersLieApartByTheirRanksAndNamesByOne) {
  const Space space = *Space::create({{"alpha", {example_knob("threads", {"1", "2", "16"}), example_knob("mode", {"a", "b", "c"})}, {}}});
  const Features features(space);
  EXPECT_EQ(features.distance(1, 1, 1), 0.0F);
  EXPECT_LT(features.distance(1, 1, 2), features.distance(1, 1, 3));
  EXPECT_EQ(features.distance(1, 1, 3), 1.0F);
  EXPECT_EQ(features.distance(2, 1, 2), features.distance(2, 1, 3));
}

TEST(Surrogate, LearnsWhatKnobsDoTogether) {
  const Space space = cube();
  const Features features(space);
  auto all = all_levels(space, features);
  Rng rng(3);
  rng.shuffle(std::span(all));
  std::vector<Surrogate::Point> known;
  for (std::size_t i = 0; i < 45; ++i) known.push_back(point_of(all[i]));
  Surrogate surrogate(features);
  const std::vector<Levels> pool(all.begin() + 45, all.end());
  for (int i = 0; i < 4; ++i) surrogate.fit(known, pool);
  double squares = 0, spread = 0;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto prediction = surrogate.predict(i);
    squares += std::pow(prediction.mean[0] - time_of(pool[i]), 2);
    spread += std::pow(time_of(pool[i]) - 1.0, 2);
    if (pool[i][3] == 3) {
      EXPECT_LT(prediction.mean[1], 0.5);
    }
    EXPECT_GT(prediction.deviation, 0.0);
  }
  EXPECT_LT(squares, 0.1 * spread);
}

TEST(Surrogate, OneMorePointIsAsIfItHadBeenThereFromTheStart) {
  const Space space = cube();
  const Features features(space);
  const auto all = all_levels(space, features);
  std::vector<Surrogate::Point> known;
  for (std::size_t i = 0; i < 40; i += 2) known.push_back(point_of(all[i]));
  Surrogate grown(features), whole(features);
  const std::vector<Levels> pool(all.begin() + 50, all.end());
  grown.fit(std::span(known).first(0), pool);  // no points: the weights stay as they are
  whole.fit(std::span(known).first(0), pool);
  for (const auto& point : known) grown.add(point);
  std::ranges::reverse(known);
  for (const auto& point : known) whole.add(point);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    EXPECT_NEAR(grown.predict(i).mean[0], whole.predict(i).mean[0], 1e-3);
    EXPECT_NEAR(grown.predict(i).deviation, whole.predict(i).deviation, 1e-3);
  }
}

TEST(Surrogate, IsSureWhereItHasBeen) {
  const Space space = cube();
  const Features features(space);
  const auto all = all_levels(space, features);
  std::vector<Surrogate::Point> known;
  for (std::size_t i = 0; i < 20; ++i) known.push_back(point_of(all[i]));
  Surrogate surrogate(features);
  surrogate.fit(known, all);
  EXPECT_NEAR(surrogate.predict(4).mean[0], time_of(all[4]), 0.05);
  EXPECT_LT(surrogate.predict(4).deviation, 0.5 * surrogate.predict(80).deviation);
}

}  // namespace
}  // namespace fiel
