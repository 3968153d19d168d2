#include "gate/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/evaluator.h"
#include "gate/testing.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

using testing::floats;
using testing::integers;
using testing::make_tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  Sample sample;
  SampleOutputs outputs;
  SampleOutputs reference;
};

Case one_case(std::string label, Tensor output, std::optional<Tensor> reference = {}) {
  Case one;
  one.sample.id = "s1";
  one.sample.label = std::move(label);
  one.reference.tensors.emplace("y", reference.value_or(output));
  one.outputs.tensors.emplace("y", std::move(output));
  return one;
}

TaskRule builtin(BuiltinEvaluator evaluator) {
  TaskRule task;
  task.name = "t";
  task.builtin = evaluator;
  return task;
}

Result<double> score(const TaskRule& task, const Case& one, double threshold = 0.5) {
  const OutputViews outputs = views_of(one.outputs);
  const OutputViews reference = views_of(one.reference);
  const ScoreItem item{&one.sample, &outputs, &reference};
  auto scores = score_builtin(task, std::span(&item, 1), {.binary_threshold = threshold});
  if (!scores) return std::unexpected(scores.error());
  return scores->front();
}

TEST(Score, Top1IsTheLargestOfOneRow) {
  const TaskRule task = builtin(BuiltinEvaluator::kTop1);
  EXPECT_EQ(score(task, one_case("2", floats({0.1, 0.2, 0.7}))).value(), 1);
  EXPECT_EQ(score(task, one_case("1", floats({0.1, 0.2, 0.7}))).value(), 0);
  EXPECT_EQ(score(task, one_case("0", floats({0, 0, 0}))).value(), 1);  // the first of equals
  EXPECT_EQ(score(task, one_case("7", integers({7}))).value(), 1);      // a class number itself
  EXPECT_EQ(score(task, one_case("7", integers({6}))).value(), 0);
}

TEST(Score, Top5LooksAtTheFiveLargest) {
  const TaskRule task = builtin(BuiltinEvaluator::kTop5);
  const Tensor output = floats({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(score(task, one_case("1", output)).value(), 1);
  EXPECT_EQ(score(task, one_case("0", output)).value(), 0);
}

TEST(Score, LabelsAndOutputsThatDoNotFitAreNamed) {
  const TaskRule task = builtin(BuiltinEvaluator::kTop1);
  for (const char* label : {"", "cat", "-1", "1.5", "1 2"}) {
    const auto result = score(task, one_case(label, floats({1, 2})));
    ASSERT_FALSE(result) << label;
    EXPECT_EQ(result.error().kind, ErrorKind::kContract);
    EXPECT_THAT(result.error().message, HasSubstr("task t cannot score sample s1"));
  }
  EXPECT_THAT(score(task, one_case("2", floats({1, 2}))).error().message, HasSubstr("has 2 classes"));
  const Tensor rows = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(score(task, one_case("1", rows)).error().message, HasSubstr("not one row"));
  EXPECT_FALSE(score(builtin(BuiltinEvaluator::kBinary), one_case("2", floats({1, 2}))));
}

TEST(Score, BinaryReadsTwoScoresAProbabilityOrALogit) {
  const TaskRule task = builtin(BuiltinEvaluator::kBinary);
  EXPECT_EQ(score(task, one_case("1", floats({0.4, 0.6}))).value(), 1);
  EXPECT_EQ(score(task, one_case("1", make_tensor(DType::kFloat32, {2, 1}, {0.4, 0.6}))).value(), 1);
  EXPECT_EQ(score(task, one_case("0", floats({0.4}))).value(), 1);
  EXPECT_EQ(score(task, one_case("0", floats({0.4})), 0.0).value(), 0);
  EXPECT_EQ(binary_threshold(tensor_traits(floats({0, 0.2, 1}).view())), 0.5);
  EXPECT_EQ(binary_threshold(tensor_traits(floats({-0.1, 0.2, 1}).view())), 0.0);
  EXPECT_EQ(binary_threshold(tensor_traits(floats({0.3, 4}).view())), 0.0);
}

TEST(Score, AbsoluteErrorIsTheMeanOverAllNumbersOfTheLabel) {
  const TaskRule task = builtin(BuiltinEvaluator::kAbsoluteError);
  EXPECT_DOUBLE_EQ(score(task, one_case("2.5", floats({2}))).value(), 0.5);
  EXPECT_DOUBLE_EQ(score(task, one_case("1; 2 4", floats({1, 3, 2}))).value(), 1);
  EXPECT_FALSE(score(task, one_case("1 2", floats({1}))));
  EXPECT_FALSE(score(task, one_case("nan", floats({1}))));
}

TEST(Score, AgreementNeedsEveryPosition) {
  const TaskRule task = builtin(BuiltinEvaluator::kAgreement);
  const Tensor reference = make_tensor(DType::kFloat32, {1, 2, 3}, {1, 2, 3, 9, 8, 7});
  const Tensor same = make_tensor(DType::kFloat32, {1, 2, 3}, {0, 0, 1, 2, 1, 0});
  const Tensor one_off = make_tensor(DType::kFloat32, {1, 2, 3}, {0, 0, 1, 1, 2, 0});
  EXPECT_EQ(score(task, one_case("", same, reference)).value(), 1);
  EXPECT_EQ(score(task, one_case("", one_off, reference)).value(), 0);
  EXPECT_EQ(score(task, one_case("", integers({1, 2}), integers({1, 2}))).value(), 1);
  EXPECT_EQ(score(task, one_case("", integers({1, 3}), integers({1, 2}))).value(), 0);
}

TEST(Score, AgreementOfSingleValuesWouldAlwaysHoldAndIsRefused) {
  const TaskRule task = builtin(BuiltinEvaluator::kAgreement);
  const auto result = score(task, one_case("", floats({3}), floats({5})));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("two or more values"));
}

TEST(Score, AgreementWithoutAnOutputHoldsForAllAndOthersAskForAName) {
  Case both = one_case("0", floats({1, 2}));
  both.reference.tensors.emplace("z", floats({1, 2}));
  both.outputs.tensors.emplace("z", floats({2, 1}));
  TaskRule task = builtin(BuiltinEvaluator::kAgreement);
  EXPECT_EQ(score(task, both).value(), 0);
  task.output = "y";
  EXPECT_EQ(score(task, both).value(), 1);
  task.output = "x";
  EXPECT_THAT(score(task, both).error().hint, HasSubstr("y, z"));
  EXPECT_THAT(score(builtin(BuiltinEvaluator::kTop1), both).error().message,
              HasSubstr("does not say which of 2 outputs"));
}

TEST(Score, EmbeddingCosineIsZeroWithoutADirection) {
  const TaskRule task = builtin(BuiltinEvaluator::kEmbeddingCosine);
  EXPECT_NEAR(score(task, one_case("", floats({3, 3}), floats({3, 4}))).value(), 21 / (5 * std::sqrt(18.0)), 1e-12);
  EXPECT_EQ(score(task, one_case("", floats({0, 0}), floats({3, 4}))).value(), 0);
}

const std::vector<std::string> kIds{"a", "b"};

TEST(Evaluator, LinesInAnyOrderBecomeScores) {
  const auto scores = parse_scores("{\"sample\":\"b\",\"score\":2,\"more\":1}\n\n{\"sample\":\"a\",\"score\":-0.5}\r\n", kIds);
  EXPECT_THAT(scores.value(), ElementsAre(-0.5, 2));
}

TEST(Evaluator, AnythingButOneFiniteScorePerSampleIsAnError) {
  const std::string a = "{\"sample\":\"a\",\"score\":1}\n";
  const std::string b = "{\"sample\":\"b\",\"score\":1}\n";
  const std::pair<std::string, std::string> cases[] = {
      {a, "no score for sample b"},
      {a + b + a, "second score for sample a"},
      {a + b + "{\"sample\":\"c\",\"score\":1}", "was not given to it"},
      {a + "{\"sample\":\"b\",\"score\":NaN}", "not JSON"},
      {a + "{\"sample\":\"b\",\"score\":1e999}", "line 2"},
      {a + "{\"sample\":\"b\",\"score\":null}", "no score for sample b"},
      {a + "{\"sample\":\"b\",\"score\":\"1\"}", "no score for sample b"},
      {a + "{\"score\":1}", "does not name its sample"},
      {"loading model...\n" + a + b, "line 1"},
      {a + "[1]", "does not name its sample"},
      {"", "no score for sample a"}};
  for (const auto& [text, words] : cases) {
    const auto scores = parse_scores(text, kIds);
    ASSERT_FALSE(scores) << text;
    EXPECT_EQ(scores.error().kind, ErrorKind::kProtocol);
    EXPECT_THAT(scores.error().message, HasSubstr(words));
  }
}

class EvaluatorProgram : public ::testing::Test {
 protected:
  EvaluatorProgram() : case_(one_case("", floats({0.25, 0.75}))), outputs_(views_of(case_.outputs)) {
    place_ = {.scratch = folder_ / "scratch", .dataset = folder_.path()};
  }
  Result<std::vector<double>> run(std::string_view program, double timeout_seconds = 250) {
    TaskRule task;
    task.name = "t";
    task.timeout_seconds = timeout_seconds;
    task.program = {FIEL_PYTHON, folder_.write("score.py", program).string()};
    const ScoreItem item{&case_.sample, &outputs_, &outputs_};
    return score_by_program(task, std::span(&item, 1), place_);
  }

  TestFolder folder_;
  Case case_;
  OutputViews outputs_;
  EvaluatorPlace place_;
};

TEST_F(EvaluatorProgram, ReadsOutputsAndDataSetAndLeavesOnlyFilesToWriteOver) {
  const auto scores = run(
      "import json, os, sys, numpy\n"
      "outputs, data = sys.argv[1:]\n"
      "assert os.path.exists(os.path.join(data, 'score.py'))\n"
      "for name in os.listdir(outputs):\n"
      "    y = numpy.load(os.path.join(outputs, name))['y']\n"
      "    print(json.dumps({'sample': name[:-4], 'score': float(y.max())}))\n");
  ASSERT_TRUE(scores) << scores.error().message << scores.error().hint;
  EXPECT_THAT(*scores, ElementsAre(0.75));
  const std::filesystem::directory_iterator left(place_.scratch);
  EXPECT_EQ(left->path().filename(), "outputs.spare");
  EXPECT_EQ(std::distance(left, {}), 1);
}

TEST_F(EvaluatorProgram, AFailureShowsTheEndOfItsWords) {
  const auto scores = run("raise SystemExit('no such label')");
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().kind, ErrorKind::kProtocol);
  EXPECT_THAT(scores.error().message, HasSubstr("of task t ended with exit status 1"));
  EXPECT_THAT(scores.error().hint, HasSubstr("no such label"));
}

TEST_F(EvaluatorProgram, IsEndedAfterItsTimeout) {
  EXPECT_EQ(run("import time; time.sleep(600)", 0.3).error().kind, ErrorKind::kTimeout);
}

TEST_F(EvaluatorProgram, AMissingProgramAndAnUnfitSampleNameAreNotItsWords) {
  TaskRule task;
  task.program = {"/no/such/program"};
  const ScoreItem item{&case_.sample, &outputs_, &outputs_};
  EXPECT_EQ(score_by_program(task, std::span(&item, 1), place_).error().kind, ErrorKind::kEnvironment);
  case_.sample.id = "../up";
  EXPECT_EQ(run("").error().kind, ErrorKind::kContract);
}

TEST_F(EvaluatorProgram, SampleNamesStayInTheFolder) {
  const std::string echo =
      "import os, sys\n"
      "raise SystemExit(repr(os.listdir(os.fsencode(sys.argv[1]))))\n";
  for (const std::string& odd : {std::string("\xff\xfe"), std::string("a b\n\"'$(x)"), std::string(251, 'x')}) {
    case_.sample.id = odd;
    const auto scores = run(echo);
    ASSERT_FALSE(scores);
    EXPECT_THAT(scores.error().hint, HasSubstr(".npz']")) << "one file, of that name";
  }
  for (const std::string& bad : {std::string("/etc/x"), std::string("a/../../b"), std::string("a\0b", 3), std::string(),
                                 std::string(".."), std::string(252, 'x')}) {
    case_.sample.id = bad;
    EXPECT_EQ(run(echo).error().kind, ErrorKind::kContract) << bad;
  }
  std::filesystem::directory_iterator outside(folder_.path());
  EXPECT_EQ(std::distance(outside, {}), 2) << "the program and the scratch folder";
}

}  // namespace
}  // namespace fiel
