#include "route/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "route/test_space.h"
#include "route/sampler.h"

namespace fiel {
namespace {

std::vector<BuildRoute> all_routes(const Space& space) {
  std::vector<BuildRoute> routes;
  space.enumerate([&](const BuildRoute& route) {
    routes.push_back(route);
    return true;
  });
  return routes;
}

Result<Space> one_engine(std::vector<Knob> knobs, std::vector<Forbidden> forbidden = {}) {
  return Space::create({{"alpha", std::move(knobs), std::move(forbidden)}});
}

TEST(Space, WalksEachCanonicalRouteOnceDefaultsFirst) {
  const Space space = example_space();
  const auto routes = all_routes(space);
  EXPECT_EQ(routes.size(), 24u);
  EXPECT_EQ(std::set<BuildRoute>(routes.begin(), routes.end()).size(), 24u);
  EXPECT_EQ(to_string(routes.front()), "engine=alpha");
  EXPECT_EQ(to_string(routes[20]), "engine=beta");
  EXPECT_EQ(to_string(routes[21]), "engine=beta variant=int4");
  for (const BuildRoute& route : routes) {
    EXPECT_EQ(space.canonical(route), route) << to_string(route);
    EXPECT_TRUE(space.validate(route)) << to_string(route);
  }
}

TEST(Space, SizeIsTheNumberOfRoutesWalked) {
  EXPECT_EQ(example_space().size(), 24.0);
  EXPECT_EQ(one_engine({})->size(), 1.0);
  EXPECT_EQ(all_routes(*one_engine({})).size(), 1u);
}

TEST(Space, SizeOfAHugeSpaceIsCountedNotWalked) {
  std::vector<Knob> knobs;
  for (int i = 0; i < 60; ++i) knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1"}));
  const auto space = one_engine(std::move(knobs));
  EXPECT_EQ(space->size(), std::ldexp(1.0, 60));
  int walked = 0;
  space->enumerate([&](const BuildRoute&) { return ++walked < 100; });
  EXPECT_EQ(walked, 100);
}

TEST(Space, KnobsComeBehindTheirConditions) {
  const Space space = example_space();
  std::vector<std::string> names;
  for (const Knob& knob : space.find_engine("alpha")->knobs) names.push_back(knob.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"streams", "variant", "shape", "cache", "cache_size"}));
}

TEST(Space, CanonicalDropsDefaultsAndKnobsThatDoNotCount) {
  const Space space = example_space();
  EXPECT_EQ(to_string(space.canonical({"alpha", {{"streams", "1"}, {"variant", "int8"}}})),
            "engine=alpha variant=int8");
  // cache_size depends on cache, which depends on shape.
  EXPECT_EQ(to_string(space.canonical(
                {"alpha", {{"shape", "static"}, {"cache", "on"}, {"cache_size", "2"}}})),
            "engine=alpha shape=static");
  EXPECT_EQ(to_string(space.canonical({"gamma", {{"x", "1"}}})), "engine=gamma x=1");
}

TEST(Space, AConditionOnAKnobThatIsMissingHolds) {
  const auto space = one_engine({example_knob("cache", {"off", "on"}, {{"shape", {"dynamic"}}})});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 2.0);
  EXPECT_EQ(to_string(space->canonical({"alpha", {{"cache", "on"}}})), "engine=alpha cache=on");
}

TEST(Space, AClauseOnAKnobThatDoesNotCountReadsItsDefault) {
  const auto space = one_engine({example_knob("shape", {"dynamic", "static"}),
                                 example_knob("cache", {"off", "on"}, {{"shape", {"dynamic"}}})},
                                {{{{"shape", "static"}, {"cache", "off"}}, "for the test"}});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 2.0);
  EXPECT_FALSE(space->validate({"alpha", {{"shape", "static"}}}));
}

TEST(Space, DeclarationsThatMakeNoSenseAreRefused) {
  const auto x = example_knob("x", {"0", "1"});
  Knob no_default = x;
  no_default.default_value = "2";
  EXPECT_FALSE(one_engine({no_default}));
  EXPECT_FALSE(one_engine({x, x}));
  EXPECT_FALSE(one_engine({example_knob("x", {"0", "0"})}));
  EXPECT_FALSE(one_engine({example_knob("x", {"a b"})}));
  EXPECT_FALSE(one_engine({example_knob("x=y", {"0"})}));
  EXPECT_FALSE(one_engine({example_knob("engine", {"0"})}));
  EXPECT_FALSE(Space::create({{"alpha", {x}, {}}, {"alpha", {x}, {}}}));
  const auto circle = one_engine({example_knob("x", {"0", "1"}, {{"y", {"0"}}}),
                                  example_knob("y", {"0", "1"}, {{"x", {"0"}}})});
  ASSERT_FALSE(circle);
  EXPECT_EQ(circle.error().kind, ErrorKind::kProtocol);
}

TEST(Space, NeighboursTurnOneKnob) {
  const Space space = example_space();
  std::vector<std::string> texts;
  for (const auto& route : space.neighbours({"alpha", {{"cache", "on"}, {"cache_size", "2"}}})) {
    texts.push_back(to_string(route));
  }
  EXPECT_EQ(texts,
            (std::vector<std::string>{"engine=alpha cache=on cache_size=2 streams=2",
                                      "engine=alpha cache=on cache_size=2 variant=int8",
                                      "engine=alpha shape=static",  // cache does not count any more
                                      "engine=alpha", "engine=alpha cache=on",
                                      "engine=alpha cache=on cache_size=2 streams=4"}));
}

TEST(Space, NeighboursAreValidAndKnowOneAnother) {
  const Space space = example_space();
  for (const BuildRoute& route : all_routes(space)) {
    std::set<BuildRoute> seen{route};
    for (const BuildRoute& neighbour : space.neighbours(route)) {
      EXPECT_TRUE(space.validate(neighbour)) << to_string(neighbour);
      EXPECT_EQ(space.canonical(neighbour), neighbour);
      EXPECT_TRUE(seen.insert(neighbour).second) << to_string(neighbour);
    }
  }
}

TEST(Space, DrawsEachRouteEquallyOften) {
  const Space space = example_space();
  const RouteSampler sampler(space);
  Rng rng(1);
  std::map<BuildRoute, int> seen;
  for (int i = 0; i < 24000; ++i) seen[sampler.draw(rng)]++;
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [route, count] : seen) {
    EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0)) << to_string(route);
  }
}

TEST(Space, DrawsValidRoutesAlsoWhereTooManyKnobsHangTogether) {
  std::vector<Knob> knobs{example_knob("k0", {"0", "1", "2"})};
  for (int i = 1; i < 20; ++i) {
    const auto before = "k" + std::to_string(i - 1);
    knobs.push_back(example_knob(
        "k" + std::to_string(i), {"0", "1", "2"},
        i == 10 ? std::vector<Condition>{{before, {"1", "2"}}} : std::vector<Condition>{}));
  }
  std::vector<Forbidden> chain;
  for (int i = 1; i < 20; ++i) {
    chain.push_back({{{"k" + std::to_string(i - 1), "2"}, {"k" + std::to_string(i), "2"}}, "test"});
  }
  const auto space = one_engine(std::move(knobs), std::move(chain));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), std::pow(3.0, 20));  // an upper bound, as the header says
  Rng rng(2);
  const RouteSampler sampler(*space);
  std::set<BuildRoute> seen;
  for (int i = 0; i < 200; ++i) {
    const BuildRoute route = sampler.draw(rng);
    EXPECT_TRUE(space->validate(route)) << to_string(route);
    EXPECT_EQ(space->canonical(route), route);
    seen.insert(route);
  }
  EXPECT_GT(seen.size(), 195u);
}

TEST(Space, AListOfRoutesLeavesNoOthers) {
  const BuildRoute plain{"alpha", {}}, two{"alpha", {{"streams", "2"}}}, level{"beta", {{"level", "all"}}};
  const auto space = example_space().only({two, level, plain, two});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 3.0);
  std::vector<BuildRoute> walked;
  space->enumerate([&](const BuildRoute& route) {
    walked.push_back(route);
    return true;
  });
  EXPECT_EQ(walked, (std::vector<BuildRoute>{plain, two, level}));
  EXPECT_FALSE(space->validate({"alpha", {{"streams", "4"}}}));
  EXPECT_EQ(space->neighbours(plain), (std::vector<BuildRoute>{two}));
  EXPECT_EQ(space->nearest_valid({"alpha", {{"streams", "2"}, {"shape", "static"}}}), two);
  Rng rng(1);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(space->validate(space->random_route(rng)));
  const auto restricted = restrict_space(*space, "engine=alpha ...");
  ASSERT_TRUE(restricted);
  EXPECT_EQ(restricted->size(), 2.0);
  EXPECT_FALSE(example_space().only({}));
  EXPECT_FALSE(example_space().only({{"gamma", {}}}));
}

}  // namespace
}  // namespace fiel
