#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace fiel {
namespace {

Result<std::unique_ptr<int>> make(bool good) {
  if (!good) return fail(ErrorKind::kUsage, "no", "try yes");
  return std::make_unique<int>(7);
}

Result<int> use(bool good) {
  auto pointer = FIEL_TRY(make(good));
  return *pointer;
}

TEST(Result, TryPassesMoveOnlyValuesOn) { EXPECT_EQ(use(true).value(), 7); }

TEST(Result, TryReturnsTheErrorOfTheCallee) {
  auto result = use(false);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no");
  EXPECT_EQ(result.error().hint, "try yes");
}

TEST(Result, ContextIsPutInFrontAndKeepsTheHint) {
  auto error = Error{ErrorKind::kContract, "no such file", "check the path"}.with_context("a.toml");
  EXPECT_EQ(error.message, "a.toml: no such file");
  EXPECT_EQ(error.hint, "check the path");
}

TEST(ResultDeathTest, AFailedCheckExitsWith70) {
  EXPECT_EXIT(FIEL_CHECK(1 == 2), ::testing::ExitedWithCode(70), "1 == 2 does not hold");
}

}  // namespace
}  // namespace fiel
