#include "worker/engine_loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "worker/test_engine.h"

namespace fiel {
namespace {

TEST(LoopEngine, AnswersTheSameForTheSameInputAndNothingElse) {
  const auto folder = TempFolder::create({}, "fiel-loop-").value();
  BuildRequest build;
  build.artifact_dir = folder.path();
  const auto engine = make_loop_engine();
  ASSERT_TRUE(engine->build(build));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "loop"));
  ASSERT_TRUE(engine->load({}));
  std::vector<std::vector<float>> answers;
  for (const float first : {0.5F, 0.5F, 0.25F}) {
    const Tensor x = floats({1, kLoopWidth}, std::vector<float>(kLoopWidth, first));
    ASSERT_TRUE(engine->prepare(0, {x.view()}));
    ASSERT_TRUE(engine->run(0));
    answers.push_back(values(engine->outputs(0).value().at(0).view()));
    for (const float y : answers.back()) ASSERT_TRUE(std::isfinite(y));
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_NE(answers[0], answers[2]);
  const Tensor wrong = floats({1, 2}, {1, 2});
  EXPECT_FALSE(engine->prepare(0, {wrong.view()}));
}

}  // namespace
}  // namespace fiel
