#include "decide/nominees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Finalist with_margin(int id, double to_spare) { return {.id = id, .to_spare = to_spare}; }

TEST(Nominees, TheBestGoesFirstWhateverItHasToSpare) {
  EXPECT_THAT(choose_nominees(std::vector{with_margin(7, 0.1)}), ElementsAre(7));
  EXPECT_THAT(choose_nominees({}), IsEmpty());
}

// Seen so on a captcha reader: 8 bits fell on a slice of the hold-out, and the two behind it were the same 8 bits with other flags.
TEST(Nominees, TheSecondDoesNotShareTheFirstsDoubt) {
  EXPECT_THAT(choose_nominees(std::vector{with_margin(6, 0.33), with_margin(9, 0.33), with_margin(11, 0.35), with_margin(2, 1.0),
                                          with_margin(14, 1.0)}),
              ElementsAre(6, 2, 9));
  EXPECT_THAT(choose_nominees(std::vector{with_margin(6, 0.33), with_margin(9, 0.33), with_margin(8, 0.6), with_margin(2, 1.0)}),
              ElementsAre(6, 8, 2));
}

// Seen so, too: all with all of their margin on 300 tuning samples, and the 8-bit model's two were lost on the hold-out, one after the other.
TEST(Nominees, WhereNoneHasMoreToSpareTheSecondAnswersUnlikeTheFirst) {
  const auto route = [](int id, std::map<std::string, std::string> settings) {
    return Finalist{.id = id, .route = {.engine = "e", .settings = std::move(settings)}, .to_spare = 1};
  };
  const std::vector<Finalist> order = {route(11, {{"threads", "2"}, {"variant", "int8"}}), route(10, {{"variant", "int8"}}),
                                       route(12, {{"variant", "int8"}, {"int8_again", "1"}}), route(2, {})};
  EXPECT_THAT(choose_nominees(order), ElementsAre(11, 12, 2));
  EXPECT_TRUE(answer_alike(order[0].route, order[1].route));
  EXPECT_FALSE(answer_alike(order[1].route, {.engine = "f", .settings = {{"variant", "int8"}}}));
}

TEST(Nominees, ARaceHasPlacesForOthersThanTheTwinsOfTheFastest) {
  std::vector<Finalist> fastest_first;
  for (int id = 1; id <= 5; ++id) fastest_first.push_back({.id = id, .route = {.engine = "e", .settings = {{"threads", std::to_string(id)}, {"variant", "int8"}}}});
  fastest_first.push_back({.id = 6, .route = {.engine = "e", .settings = {{"variant", "int8_but_1"}}}});
  fastest_first.push_back({.id = 7, .route = {.engine = "e", .settings = {}}});
  EXPECT_THAT(twins_last(fastest_first), ElementsAre(1, 2, 3, 6, 7, 4, 5));
  EXPECT_THAT(twins_last({}), IsEmpty());
}

TEST(Nominees, WhereAllAnswerAlikeTheOrderIsKept) {
  EXPECT_THAT(choose_nominees(std::vector{with_margin(4, 1.0), with_margin(5, 1.0), with_margin(3, 0.98), with_margin(2, 1.0)}),
              ElementsAre(4, 5, 3));
}

std::vector<int> ids_without_idle(const Finalist& first, const std::vector<Finalist>& others) {
  std::vector<int> ids;
  for (const Finalist& one : without_idle_settings(std::vector{first}, others)) ids.push_back(one.id);
  return ids;
}

TEST(Nominees, SettingsThatTheRaceCannotTellFromNoneAreDropped) {
  const Finalist decorated{
      .id = 9, .route = {.engine = "e", .settings = {{"a", "1"}, {"b", "2"}}}, .to_spare = 1, .log_ratios = {0.50, 0.52, 0.47}};
  Finalist plain{.id = 2, .route = {.engine = "e", .settings = {{"a", "1"}}}, .to_spare = 1, .log_ratios = {0.49, 0.53, 0.46}};
  EXPECT_THAT(ids_without_idle(decorated, {decorated, plain}), ElementsAre(2));
  Finalist plainest = plain;
  plainest.id = 1;
  plainest.route.settings.clear();
  EXPECT_THAT(ids_without_idle(decorated, {decorated, plain, plainest}), ElementsAre(1));
  plain.log_ratios = {0.49, 0.51, 0.46};
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "slower in every session";
  plain.log_ratios = {0.40, 0.53, 0.41};
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "10 % slower in the median";
  plain.log_ratios = {0.49, 0.53};
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "other sessions";
  plain.log_ratios = {0.49, 0.53, 0.46};
  plain.to_spare = 0.5;
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "less accurate";
  plain.to_spare = 1;
  plain.route.settings = {{"c", "1"}};
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "another setting";
  plain.route = {.engine = "f", .settings = {}};
  EXPECT_THAT(ids_without_idle(decorated, {plain}), ElementsAre(9)) << "another engine";
}

}  // namespace
}  // namespace fiel
