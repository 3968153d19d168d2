#include "route/trtexec_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(TrtexecRoute, IsWrittenAndReadBack) {
  const std::map<std::string, std::string> settings = {{"noTF32", "1"}, {"route.b", "on"}, {"route.kgen:tiling", "2"}};
  EXPECT_EQ(to_trtexec_route(settings), "-b=on -kgen:tiling=2");
  EXPECT_EQ(to_trtexec_route({}), "");
  EXPECT_THAT(*from_trtexec_route(" -b=on  -kgen:tiling=2"), ElementsAre(Pair("route.b", "on"), Pair("route.kgen:tiling", "2")));
  EXPECT_THAT(*from_trtexec_route(""), IsEmpty());
}

TEST(TrtexecRoute, WhatIsNoneIsAnError) {
  for (const char* text : {"b=on", "-b", "-=on", "-b=", "-b=on -b=off"}) EXPECT_FALSE(from_trtexec_route(text)) << text;
}

}  // namespace
}  // namespace fiel
