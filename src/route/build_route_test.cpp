#include "route/build_route.h"

#include <gtest/gtest.h>

#include "route/test_space.h"

namespace fiel {
namespace {

Error error_of(std::string_view text) {
  const auto route = parse_route(text, example_space());
  EXPECT_FALSE(route) << text;
  return route ? Error{ErrorKind::kUsage, "", ""} : route.error();
}

TEST(BuildRoute, IsWrittenEngineFirstAndThenByName) {
  const BuildRoute route{"alpha", {{"variant", "int8"}, {"streams", "2"}}};
  EXPECT_EQ(to_string(route), "engine=alpha streams=2 variant=int8");
  EXPECT_EQ(to_string(BuildRoute{"beta", {}}), "engine=beta");
}

TEST(BuildRoute, IsReadInAnyOrderAndMadeCanonical) {
  const auto route = parse_route("  streams=1 variant=int8\tengine=alpha ", example_space());
  ASSERT_TRUE(route);
  EXPECT_EQ(*route, (BuildRoute{"alpha", {{"variant", "int8"}}}));
}

TEST(BuildRoute, EveryRouteIsReadAsItIsWritten) {
  const Space space = example_space();
  space.enumerate([&](const BuildRoute& route) {
    const auto read = parse_route(to_string(route), space);
    EXPECT_TRUE(read && *read == route) << to_string(route);
    return true;
  });
}

TEST(BuildRoute, TheOnlyEngineNeedNotBeNamed) {
  const auto alone = Space::create({*example_space().find_engine("beta")});
  ASSERT_TRUE(alone);
  EXPECT_EQ(parse_route("level=all", *alone)->engine, "beta");
  EXPECT_EQ(error_of("streams=2").hint, "add one of: engine=alpha, engine=beta");
}

TEST(BuildRoute, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(error_of("engine=alhpa").hint, "did you mean 'alpha'?");
  const Error knob = error_of("engine=alpha stream=2");
  EXPECT_EQ(knob.kind, ErrorKind::kUsage);
  EXPECT_EQ(knob.message, "no knob 'stream' in engine alpha");
  EXPECT_EQ(knob.hint, "did you mean 'streams'?");
  const Error value = error_of("engine=alpha variant=int4");
  EXPECT_EQ(value.message, "knob variant has no value 'int4'");
  EXPECT_EQ(value.hint, "did you mean 'int8'?");
}

TEST(BuildRoute, WordsThatAreNoSettingsAreRefused) {
  for (const char* text : {"", "  ", "engine=alpha int8", "engine=alpha streams=", "=2",
                           "engine=alpha streams=2 streams=4", "engine=alpha engine=beta",
                           "engine=alpha streams=[1|2]", "engine=alpha streams=[1", "]"}) {
    EXPECT_EQ(error_of(text).kind, ErrorKind::kUsage) << text;
  }
}

TEST(BuildRoute, ASettingThatWouldNotCountIsRefused) {
  const Error error = error_of("engine=alpha shape=static cache=on");
  EXPECT_EQ(error.hint, "cache counts only with shape=dynamic");
  EXPECT_TRUE(parse_route("engine=alpha shape=static cache=off", example_space()));
}

TEST(BuildRoute, AForbiddenCombinationSaysWhy) {
  const Error error = error_of("engine=alpha variant=int8 streams=4");
  EXPECT_EQ(error.message,
            "streams=4 variant=int8 is not possible: int8 runs on two streams at most");
}

}  // namespace
}  // namespace fiel
