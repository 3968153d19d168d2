#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

TEST(Json, EqualObjectsHaveEqualText) {
  EXPECT_EQ(dump_json(parse_json(R"({"b":1,"a":2})").value()), R"({"a":2,"b":1})");
}

TEST(Json, BrokenDeepAndInvalidTextIsAnErrorNotACrash) {
  EXPECT_FALSE(parse_json("{\"a\":"));
  EXPECT_FALSE(parse_json("{} {}"));
  EXPECT_FALSE(parse_json("\"\xff\xfe\""));
  EXPECT_FALSE(parse_json(std::string(100'000, '[')));
}

TEST(Json, GettersNameTheKeyAndWhatWasFound) {
  const Json object = parse_json(R"({"n":"x","big":18446744073709551615,"f":1.5})").value();
  EXPECT_EQ(get_int(object, "n").error().message, "\"n\" is string, not an integer");
  EXPECT_EQ(get_int(object, "m").error().message, "\"m\" is missing");
  EXPECT_FALSE(get_int(object, "big"));
  EXPECT_FALSE(get_int(object, "f"));
  EXPECT_DOUBLE_EQ(get_number(object, "f").value(), 1.5);
}

}  // namespace
}  // namespace fiel
