#include "worker/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/test_folder.h"
#include "worker/test_engine.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FeedTest : public ::testing::Test {
 protected:
  SampleFiles sample(std::int64_t index, const Tensor& x) {
    return {.index = index, .inputs = {{"x", pack_.add(x)}}};
  }
  SampleFiles row(std::int64_t index) {
    const auto value = static_cast<float>(index);
    return sample(index, floats({1, 2}, {value, -value}));
  }
  std::string error(const std::vector<SampleFiles>& samples, std::int64_t batch = 1) {
    const auto feed = Feed::create(loaded_, samples, batch);
    if (feed) return "no error";
    return feed.error().reason + ": " + feed.error().message;
  }
  void make_recurrent() {
    engine_.has_state = true;
    loaded_ = {
        .report = engine_.report(), .state = {{.output = "h_out", .input = "h"}}, .shapes = {}};
  }

  TestFolder folder_;
  TestPack pack_{folder_ / "samples.pack"};
  TestEngine engine_;
  Loaded loaded_{.report = engine_.report(), .state = {}, .shapes = {}};
};

TEST_F(FeedTest, GivesEachSampleItsOwnInferenceInOrder) {
  const auto feed = Feed::create(loaded_, {row(5), row(3)}, 1);
  ASSERT_TRUE(feed);
  ASSERT_EQ(feed->item_count(), 2u);
  EXPECT_THAT(values(feed->inputs(0, 0)[0]), ElementsAre(5, -5));
  EXPECT_THAT(values(feed->inputs(1, 0)[0]), ElementsAre(3, -3));
  EXPECT_EQ(feed->inputs(1, 0)[0].shape, (Shape{1, 2}));
}

TEST_F(FeedTest, FillsAShortLastBatchWithItsLastSample) {
  auto feed = Feed::create(loaded_, {row(1), row(2), row(3)}, 2);
  ASSERT_TRUE(feed);
  ASSERT_EQ(feed->item_count(), 2u);
  const Feed moved = *std::move(feed);
  EXPECT_EQ(moved.inputs(1, 0)[0].shape, (Shape{2, 2}));
  EXPECT_THAT(values(moved.inputs(1, 0)[0]), ElementsAre(3, -3, 3, -3));
  EXPECT_EQ(moved.sample_count(0), 2);
  EXPECT_EQ(moved.sample_count(1), 1);
}

TEST_F(FeedTest, TakesABatchApartAndForgetsTheFiller) {
  const auto feed = Feed::create(loaded_, {row(1), row(2), row(3)}, 2);
  ASSERT_TRUE(feed);
  const auto both = feed->take_apart(0, {{floats({2, 2}, {1, 2, 3, 4})}});
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)[1].index, 2);
  EXPECT_EQ((*both)[1].tensors[0].shape, (Shape{1, 2}));
  EXPECT_THAT(values((*both)[1].tensors[0].view()), ElementsAre(3, 4));
  const auto one = feed->take_apart(1, {{floats({2, 2}, {5, 6, 7, 8})}});
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_THAT(values((*one)[0].tensors[0].view()), ElementsAre(5, 6));
}

TEST_F(FeedTest, RefusesToSplitAnOutputThatHasNoBatchAxis) {
  const auto feed = Feed::create(loaded_, {row(1), row(2)}, 2);
  const auto outputs = feed->take_apart(0, {{floats({3}, {1, 2, 3})}});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().reason, "unsupported");
  EXPECT_THAT(outputs.error().message, HasSubstr("\"y/0\" of shape [3]"));
}

TEST_F(FeedTest, NamesSampleAndInputOfWhatDoesNotFit) {
  EXPECT_THAT(error({sample(7, floats({1, 3}, {1, 2, 3}))}),
              HasSubstr("sample 7, input \"x\": its shape is [1, 3]"));
  EXPECT_THAT(error({{.index = 7, .inputs = {}}}),
              HasSubstr("sample 7, input \"x\": it is missing"));
  SampleFiles extra = row(7);
  extra.inputs["z"] = extra.inputs["x"];
  EXPECT_THAT(error({extra}), HasSubstr("sample 7, input \"z\": the model has no such input"));
  SampleFiles retyped = row(7);
  retyped.inputs["x"].dtype = DType::kInt32;
  EXPECT_THAT(error({retyped}), HasSubstr("its dtype is int32, the model takes float32"));
  EXPECT_THAT(error({row(1), sample(2, floats({2, 2}, {1, 2, 3, 4}))}, 2),
              HasSubstr("[2, 2] differs from [1, 2]"));
}

TEST_F(FeedTest, RefusesBytesThatAreNotInTheFile) {
  SampleFiles beyond = row(7);
  beyond.inputs["x"].offset = 64;
  EXPECT_THAT(error({beyond}), HasSubstr("too few for float32 [1, 2] at offset 64"));
  beyond.inputs["x"].offset = std::int64_t{1} << 62;
  EXPECT_THAT(error({beyond}), HasSubstr("too few"));
  beyond.inputs["x"].file = folder_ / "nothing.pack";
  EXPECT_THAT(error({beyond}), HasSubstr("nothing.pack"));
  beyond.inputs["x"].file = folder_.path();
  EXPECT_THAT(error({beyond}), HasSubstr("no regular file"));
}

TEST_F(FeedTest, TakesASampleOfNoElementsFromAnEmptyFile) {
  folder_.write("empty.pack", "");
  SampleFiles empty{.index = 0, .inputs = {}};
  empty.inputs["x"] = {
      .file = folder_ / "empty.pack", .offset = 0, .dtype = DType::kFloat32, .shape = {0, 2}};
  const auto feed = Feed::create(loaded_, {empty}, 1);
  ASSERT_TRUE(feed) << error({empty});
  EXPECT_TRUE(feed->inputs(0, 0)[0].bytes.empty());
}

TEST_F(FeedTest, CutsASequenceIntoStepsAndStartsItsStateAtZeros) {
  make_recurrent();
  const auto feed = Feed::create(loaded_, {sample(4, floats({3, 1, 2}, {1, 2, 3, 4, 5, 6}))}, 1);
  ASSERT_TRUE(feed);
  ASSERT_EQ(feed->step_count(0), 3u);
  EXPECT_THAT(values(feed->inputs(0, 2)[0]), ElementsAre(5, 6));
  EXPECT_EQ(feed->inputs(0, 2)[0].shape, (Shape{1, 2}));
  EXPECT_THAT(values(feed->inputs(0, 0)[1]), ElementsAre(0));
  const std::vector<Tensor> previous{floats({1, 2}, {0, 0}), floats({1}, {9})};
  EXPECT_THAT(values(feed->inputs_after(0, 1, previous)[1]), ElementsAre(9));
  EXPECT_THAT(values(feed->inputs_after(0, 1, previous)[0]), ElementsAre(3, 4));
}

TEST_F(FeedTest, StartsAStateAtTheSamplesOwnValue) {
  make_recurrent();
  SampleFiles one = sample(4, floats({1, 1, 2}, {1, 2}));
  one.inputs["h"] = pack_.add(floats({1}, {7}));
  const auto feed = Feed::create(loaded_, {one}, 1);
  ASSERT_TRUE(feed);
  EXPECT_THAT(values(feed->inputs(0, 0)[1]), ElementsAre(7));
}

TEST_F(FeedTest, StacksStepsAlongALeadingAxis) {
  make_recurrent();
  const auto feed = Feed::create(loaded_, {sample(4, floats({2, 1, 2}, {1, 2, 3, 4}))}, 1);
  const auto outputs = feed->take_apart(
      0, {{floats({1, 2}, {1, 2}), floats({1}, {1})}, {floats({1, 2}, {3, 4}), floats({1}, {2})}});
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].tensors[0].shape, (Shape{2, 1, 2}));
  EXPECT_THAT(values((*outputs)[0].tensors[0].view()), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values((*outputs)[0].tensors[1].view()), ElementsAre(1, 2));
}

TEST_F(FeedTest, RefusesSequencesItCannotStep) {
  make_recurrent();
  EXPECT_THAT(error({sample(4, floats({}, {1}))}), HasSubstr("no leading axis of steps"));
  EXPECT_THAT(error({sample(4, floats({0, 1, 2}, {}))}), HasSubstr("no leading axis of steps"));
  EXPECT_THAT(error({sample(4, floats({2, 1, 3}, {1, 2, 3, 4, 5, 6}))}),
              HasSubstr("its shape is [1, 3]"));
  EXPECT_THAT(error({row(1), row(2)}, 2), HasSubstr("unsupported: a recurrent model"));
  loaded_.state[0].output = "nothing";
  EXPECT_THAT(error({sample(4, floats({1, 1, 2}, {1, 2}))}), HasSubstr("\"state\" names no"));
}

TEST_F(FeedTest, TakesTheShapeOfADynamicStateFromTheTraffic) {
  make_recurrent();
  loaded_.report.inputs[1].shape = {-1};
  const SampleFiles one = sample(4, floats({1, 1, 2}, {1, 2}));
  EXPECT_THAT(error({one}), HasSubstr("this state has dynamic axes ([-1])"));
  loaded_.shapes = {{{"h", {5}}}};
  const auto feed = Feed::create(loaded_, {one}, 1);
  ASSERT_TRUE(feed);
  EXPECT_EQ(feed->inputs(0, 0)[1].shape, (Shape{5}));
}

}  // namespace
}  // namespace fiel
