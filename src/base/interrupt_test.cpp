#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace fiel {
namespace {

TEST(Interrupt, TheFirstSignalCancelsAndNothingElse) {
  auto interrupt = Interrupt::install();
  ASSERT_TRUE(interrupt);
  EXPECT_FALSE(interrupt->cancelled());
  std::raise(SIGINT);
  EXPECT_TRUE(interrupt->cancelled());
  EXPECT_TRUE(interrupt->cancelled());  // it stays
  EXPECT_TRUE(is_cancelled(interrupt->cancel_fd()));
}

TEST(Interrupt, WithoutADescriptorNothingIsCancelled) { EXPECT_FALSE(is_cancelled(-1)); }

TEST(Interrupt, SignalsAreGivenBack) {
  std::signal(SIGTERM, SIG_IGN);
  {
    auto interrupt = Interrupt::install();
    std::raise(SIGTERM);
    EXPECT_FALSE(interrupt->cancelled());  // ignored before, so still ignored
  }
  struct sigaction now{};
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
}

TEST(InterruptDeathTest, TheSecondSignalExitsAtOnce) {
  EXPECT_EXIT(
      {
        auto interrupt = Interrupt::install();
        std::raise(SIGINT);
        std::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace fiel
