#include "decide/ledger.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "ledger-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    SampleSet set;
    set.digest = "d1";
    holdout_.emplace(set);
    set.digest = "d2";
    other_.emplace(set);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  std::optional<HoldoutSet> holdout_, other_;
};

TEST_F(LedgerTest, CountsOpeningsPerHoldoutOverRuns) {
  {
    auto ledger = Ledger::open(folder_).value();
    EXPECT_EQ(ledger.open_holdout(*holdout_, "run1", "n1")->number(), 1);
    EXPECT_EQ(ledger.open_holdout(*holdout_, "run1", "n2")->number(), 2);
  }
  auto ledger = Ledger::open(folder_).value();
  EXPECT_EQ(ledger.open_holdout(*holdout_, "run2", "n1")->number(), 3);
  EXPECT_EQ(ledger.open_holdout(*other_, "run2", "n1")->number(), 1);
  EXPECT_EQ(ledger.openings(*holdout_).value(), 3);
}

TEST_F(LedgerTest, TheSameRunAndNomineeSpendOnce) {
  auto ledger = Ledger::open(folder_).value();
  EXPECT_EQ(ledger.open_holdout(*holdout_, "run1", "n1")->number(), 1);
  EXPECT_EQ(ledger.open_holdout(*holdout_, "run1", "n1")->number(), 1);
  EXPECT_EQ(ledger.openings(*holdout_).value(), 1);
}

TEST_F(LedgerTest, AnUnwritableFolderIsAnEnvironmentErrorWithAHint) {
  auto ledger = Ledger::open("/proc/nowhere");
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(ledger.error().hint.find("FIEL_STATE_DIR"), std::string::npos);
}

}  // namespace
}  // namespace fiel
