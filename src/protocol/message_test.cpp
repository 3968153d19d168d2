#include "protocol/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

using ::testing::HasSubstr;

Json one_sample() {
  return Json::parse(R"([{"index":17,"inputs":{
      "x":{"file":"/data/tuning.pack","offset":4096,"dtype":"float32","shape":[1,3,0]}}}])");
}

TEST(Message, SamplesSurviveTheWayThereAndBack) {
  const auto samples = parse_samples(one_sample());
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 1u);
  EXPECT_EQ(samples->front().index, 17);
  EXPECT_EQ(samples->front().inputs.at("x").shape, (Shape{1, 3, 0}));
  EXPECT_EQ(to_json(*samples), one_sample());
}

TEST(Message, AnErrorNamesSampleInputAndKey) {
  struct Case {
    const char* key;
    Json value;
  };
  for (const Case& wrong :
       std::vector<Case>{{"file", "relative.pack"},
                         {"offset", 4097},
                         {"offset", -64},
                         {"offset", "0"},
                         {"dtype", "float8"},
                         {"shape", {1, -1}},
                         {"shape", {1.5}},
                         {"shape", {std::int64_t{1} << 40, std::int64_t{1} << 40}},
                         {"shape", 3}}) {
    Json json = one_sample();
    json[0]["inputs"]["x"][wrong.key] = wrong.value;
    const auto samples = parse_samples(json);
    ASSERT_FALSE(samples) << json;
    EXPECT_THAT(samples.error().message,
                HasSubstr("samples[0]: inputs.x: \"" + std::string(wrong.key)));
    json[0]["inputs"]["x"].erase(wrong.key);
    EXPECT_FALSE(parse_samples(json)) << "without " << wrong.key;
  }
}

TEST(Message, SamplesMustBeAListOfAtLeastOne) {
  EXPECT_FALSE(parse_samples(Json::array()));
  EXPECT_FALSE(parse_samples(Json::object()));
  EXPECT_FALSE(parse_samples(Json::parse(R"([{"index":-1,"inputs":{}}])")));
  EXPECT_FALSE(parse_samples(Json::parse(R"([{"index":1}])")));
  EXPECT_FALSE(parse_samples(Json::parse(R"([7])")));
}

TEST(Message, StateLinksSurviveTheWayThereAndBack) {
  const auto links = parse_state(Json::parse(R"([{"output":"h_out","input":"h_in"}])"));
  ASSERT_TRUE(links);
  EXPECT_EQ(links->at(0).output, "h_out");
  EXPECT_EQ(to_json(*links)[0]["input"], "h_in");
  EXPECT_FALSE(parse_state(Json::parse(R"([{"output":"h_out"}])")));
}

TEST(Message, ADynamicAxisIsOnlyTakenWhereOneMayStand) {
  EXPECT_TRUE(parse_shape(Json::parse("[-1,3]"), -1));
  EXPECT_FALSE(parse_shape(Json::parse("[-1,3]"), 0));
  EXPECT_FALSE(parse_shape(Json::parse("[-2]"), -1));
}

}  // namespace
}  // namespace fiel
