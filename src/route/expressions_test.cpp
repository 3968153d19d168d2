#include <gtest/gtest.h>

#include <algorithm>

#include "route/test_space.h"
#include "route/space.h"

namespace fiel {
namespace {

std::vector<std::string> routes(std::string_view expression) {
  std::vector<std::string> texts;
  const auto space = restrict_space(example_space(), expression);
  if (!space) return {space.error().message};
  space->enumerate([&](const BuildRoute& route) {
    texts.push_back(to_string(route));
    return true;
  });
  EXPECT_EQ(space->size(), static_cast<double>(texts.size()));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Expressions, SweepTheNamedKnobsAndLeaveTheOthersAtTheirDefault) {
  EXPECT_EQ(routes("streams=[1|2] variant=[float32|int8] engine=alpha"),
            (Texts{"engine=alpha", "engine=alpha variant=int8", "engine=alpha streams=2",
                   "engine=alpha streams=2 variant=int8"}));
}

TEST(Expressions, ASingleValueNeedsNoBrackets) {
  EXPECT_EQ(routes("streams=2 engine=alpha"), Texts{"engine=alpha streams=2"});
}

TEST(Expressions, TheDefaultCanBeExcluded) {
  EXPECT_EQ(routes("streams=[2|4] engine=alpha"),
            (Texts{"engine=alpha streams=2", "engine=alpha streams=4"}));
}

TEST(Expressions, DotsKeepTheOtherKnobsFree) {
  EXPECT_EQ(routes("...").size(), 24u);
  EXPECT_EQ(routes("engine=beta ...").size(), 4u);
  EXPECT_EQ(routes("streams=4 ... engine=alpha").size(), 4u);  // int8 is forbidden there
}

TEST(Expressions, BlanksInsideAListDoNotMatter) {
  EXPECT_EQ(routes("streams=[ 1 | 2 ] engine=alpha").size(), 2u);
}

TEST(Expressions, AnEngineWithoutTheKnobStaysAtItsDefault) {
  EXPECT_EQ(routes("streams=2"), (Texts{"engine=alpha streams=2", "engine=beta"}));
}

TEST(Expressions, AnEngineWithoutTheValueIsLeftOut) {
  EXPECT_EQ(routes("variant=int4"), Texts{"engine=beta variant=int4"});
}

TEST(Expressions, ForbiddenRoutesStayForbidden) {
  EXPECT_EQ(routes("streams=[2|4] variant=int8"), (Texts{"engine=alpha streams=2 variant=int8"}));
  EXPECT_EQ(routes("streams=4 variant=int8 engine=alpha"),
            Texts{"no build route satisfies 'streams=4 variant=int8 engine=alpha'"});
}

TEST(Expressions, AKnobThatCouldNotCountIsRefused) {
  const auto space = restrict_space(example_space(), "cache_size=[1|2] engine=alpha");
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().hint, "it counts only with cache=on: add that to --routes");
  EXPECT_EQ(routes("cache_size=[1|2] cache=on engine=alpha").size(), 2u);
}

TEST(Expressions, UnknownNamesAreAnsweredWithTheNearest) {
  const auto hint = [](std::string_view text) {
    return restrict_space(example_space(), text).error().hint;
  };
  EXPECT_EQ(hint("engine=[alpha|bta]"), "did you mean 'beta'?");
  EXPECT_EQ(hint("strems=2"), "did you mean 'streams'?");
  EXPECT_EQ(hint("variant=[int8|int44]"), "did you mean 'int4'?");
}

TEST(Expressions, WhatCannotBeReadIsRefused) {
  for (const char* text : {"", "streams", "streams=", "streams=[]", "streams=[1|]", "streams=[1",
                           "streams=1]", "streams=1 streams=2", "=1", "[1|2]"}) {
    const auto space = restrict_space(example_space(), text);
    ASSERT_FALSE(space) << text;
    EXPECT_EQ(space.error().kind, ErrorKind::kUsage) << text;
    EXPECT_FALSE(space.error().hint.empty()) << text;
  }
}

TEST(Expressions, ARestrictedSpaceFindsTheValidRouteNearestToTheBaseline) {
  const BuildRoute baseline{"alpha", {{"variant", "int8"}, {"shape", "static"}}};
  const auto nearest = [&](std::string_view text) {
    return to_string(*restrict_space(example_space(), text)->nearest_valid(baseline));
  };
  EXPECT_EQ(nearest("..."), "engine=alpha shape=static variant=int8");
  EXPECT_EQ(nearest("streams=[2|4] variant=[float32|int8]"), "engine=alpha streams=2 variant=int8");
  EXPECT_EQ(nearest("engine=beta level=[basic|all]"), "engine=beta");
}

}  // namespace
}  // namespace fiel
