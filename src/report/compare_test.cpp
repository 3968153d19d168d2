#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/contract_terms.h"
#include "report/test_run.h"

namespace fiel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Compare : public ::testing::Test {
 protected:
  RunSide side(const std::string& name, void (*story)(const std::filesystem::path&) = write_improved) {
    std::filesystem::create_directories(folder_ / name);
    story(folder_ / name);
    RunSide side = read_side(folder_ / name).value();
    side.terms = {{"accuracy.task exact_match", "score.py, drop at most 0.01"}, {"speed.min_gain", "0.01"}};
    return side;
  }

  // The first event, changed after the fact.
  static void change(RunSide& side, const Json& changes) {
    Json run = parse_json(side.view.run_json).value();
    run.merge_patch(changes);
    side.view.run_json = dump_json(run);
  }

  std::vector<std::string> blocking(const RunSide& a, const RunSide& b) {
    std::vector<std::string> names;
    for (const Difference& one : compare_runs(a, b).differences) {
      if (one.blocks) names.push_back(one.what);
    }
    return names;
  }

  TestFolder folder_;
};

TEST_F(Compare, ARunIsComparableWithItselfAndNothingChanged) {
  const RunSide a = side("a"), b = side("b");
  EXPECT_THAT(compare_runs(a, b).differences, IsEmpty());
  EXPECT_TRUE(compare_runs(a, b).comparable());
}

TEST_F(Compare, AnotherQuestionBlocks) {
  const RunSide a = side("a");
  RunSide b = side("b");
  change(b, {{"model", {{"digest", std::string(64, 'e')}}}, {"data", {{"holdout", {{"digest", std::string(64, 'f')}}}}}});
  b.terms["accuracy.task exact_match"] = "score.py, drop at most 0.05";
  EXPECT_THAT(blocking(a, b), ElementsAre("model", "holdout data", "accuracy.task exact_match"));
}

TEST_F(Compare, AnotherMachineOrEngineBlocksAndNoRatioBetweenThemIsGiven) {
  const RunSide a = side("a");
  RunSide b = side("b");
  change(b, {{"machine", {{"cpu", "another CPU"}, {"cores", 64}}}});
  b.view.engines.front().version = "2027.0";
  EXPECT_THAT(blocking(a, b), ElementsAre("CPU", "number of cores", "engine openvino"));
  const std::string text = format_comparison(a, b, 80);
  EXPECT_THAT(text, HasSubstr("NOT comparable"));
  EXPECT_THAT(text, HasSubstr("CPU: AMD EPYC 9V45 -> another CPU"));
  EXPECT_THAT(text, HasSubstr("relative to the run's own comparator"));
}

TEST_F(Compare, OtherSeedsAndBudgetsAreToldAndDoNotBlock) {
  const RunSide a = side("a");
  RunSide b = side("b");
  change(b, {{"seed", 2}, {"wall_seconds", 60.0}, {"machine", {{"kernel", "7.0"}}}});
  b.terms["speed.min_gain"] = "0.02";
  const Comparison comparison = compare_runs(a, b);
  EXPECT_TRUE(comparison.comparable());
  for (const char* what : {"seed", "wall_seconds", "kernel", "speed.min_gain"}) {
    EXPECT_THAT(comparison.differences, Contains(Field(&Difference::what, what)));
  }
}

TEST_F(Compare, AnUnreadableContractIsNoAgreement) {
  RunSide a = side("a"), b = side("b");
  a.terms.clear();
  EXPECT_THAT(blocking(a, b), ElementsAre("contract"));
  b.terms.clear();
  EXPECT_THAT(blocking(a, b), ElementsAre("contract"));
}

TEST_F(Compare, ShowsBothSidesWithIntervalsSamplesAndWhatTheyAreRelativeTo) {
  const std::string text = format_comparison(side("a"), side("b", write_not_improved), 200);
  EXPECT_THAT(text, HasSubstr("A: improved:"));
  EXPECT_THAT(text, HasSubstr("B: not_improved:"));
  EXPECT_THAT(text, HasSubstr("1.83 times as fast as the baseline (#2) [1.80, 1.87] (97.9 % interval, 10 sessions)"));
  EXPECT_THAT(text, HasSubstr("exact_match lost 0.0020 (at most 0.0087) of 0.0100 allowed, n 1000 (hold-out)"));
  EXPECT_THAT(text, HasSubstr("n 480 (tuning data, point estimate)"));
  const Json json = comparison_json(side("c"), side("d"));
  EXPECT_EQ(json["runs"][0]["speedup"]["sessions_estimating"], 10);
  EXPECT_EQ(json["runs"][0]["accuracy"]["holdout"]["tasks"][0]["n"], 1000);
}

TEST_F(Compare, TakesARunThatIsGoingOnOrHasNotBegun) {
  const RunSide going = side("going", write_unfinished);
  EXPECT_THAT(format_comparison(side("a"), going, 120), HasSubstr("B: none yet; last:"));
  const RunSide empty = side("empty", [](const std::filesystem::path& folder) { TestRun run(folder); });
  EXPECT_THAT(blocking(going, empty), ElementsAre("run"));
  EXPECT_THAT(blocking(empty, empty), ElementsAre("run"));
  EXPECT_THAT(format_comparison(empty, going, 80), HasSubstr("none yet"));
}

TEST(ContractTerms, SayWhatIsAskedAndNotWhereItLies) {
  const auto terms_of = [](const std::string& drop, const std::string& folder) {
    const std::string text = "fiel = 1\n[model]\npath = \"m.onnx\"\n[data]\ntuning = \"t\"\nholdout = \"h\"\n[target]\n"
                             "engines = [\"openvino\"]\n[[accuracy.task]]\nname = \"right\"\nevaluator = \"top1\"\nmax_drop = " +
                             drop + "\n[accuracy.task.slices]\nsmall = { max_drop = 0.03 }\n";
    return contract_terms(parse_contract(text, folder + "/contract.toml").value());
  };
  EXPECT_EQ(terms_of("0.01", "/a"), terms_of("0.01", "/b"));
  EXPECT_EQ(terms_of("0.01", "/a").at("accuracy.task right"), "top1, drop at most 0.01; small: drop at most 0.03");
  EXPECT_NE(terms_of("0.01", "/a"), terms_of("0.02", "/a"));
}

}  // namespace
}  // namespace fiel
