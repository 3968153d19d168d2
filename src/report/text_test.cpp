#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/golden.h"
#include "report/page.h"
#include "report/test_run.h"
#include "report/words.h"

namespace fiel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Text, SaysAnImprovementWithIntervalSessionsAndSamples) {
  const std::string text = format_text(view_of(write_improved), {});
  EXPECT_THAT(text, HasSubstr("improved:"));
  EXPECT_THAT(text, HasSubstr("[1.80, 1.87]"));
  EXPECT_THAT(text, HasSubstr("the baseline (#2)"));
  expect_golden("improved.txt", text);
}

TEST(Text, SaysNotImprovedAsAnAnswerAndFlagsTheBaseline) {
  const std::string text = format_text(view_of(write_not_improved), {});
  EXPECT_THAT(text, ::testing::StartsWith("not improved:"));
  EXPECT_THAT(text, HasSubstr("warning: the baseline (#2"));
  EXPECT_THAT(text, HasSubstr("keep the comparator (#1)"));
  expect_golden("not_improved.txt", text);
}

TEST(Text, SaysWhatIsMissingForADecision) {
  expect_golden("undecided.txt", format_text(view_of(write_undecided), {}));
}

TEST(Text, SaysThatNothingShipsWhereNothingMeetsTheContract) {
  const std::string text = format_text(view_of(write_infeasible), {});
  EXPECT_THAT(text, Not(HasSubstr("fiel export")));
  expect_golden("infeasible.txt", text);
}

TEST(Text, ClaimsNothingOfARunThatIsStillGoing) {
  const std::string text = format_text(view_of(write_unfinished), {});
  EXPECT_THAT(text, HasSubstr("fiel resume run"));
  expect_golden("unfinished.txt", text);
}

TEST(Text, ShowsEveryCandidateWithItsReasonWhereAskedTo) {
  expect_golden("improved_all.txt", format_text(view_of(write_improved), {.all = true}));
}

TEST(Text, FitsIntoTheWidth) {
  for (const Story story : {write_improved, write_not_improved, write_undecided, write_infeasible, write_unfinished}) {
    std::istringstream lines(format_text(view_of(story), {.width = 80}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80U) << line;
  }
}

TEST(Text, HasColourOnlyWhereAskedFor) {
  const RunView view = view_of(write_improved);
  EXPECT_THAT(format_text(view, {}), Not(HasSubstr("\033")));
  EXPECT_THAT(format_text(view, {.color = true}), HasSubstr("\033[1;32m"));
}

TEST(Words, ShowWhatFailedAndNotWhereAnEngineFailed) {
  EXPECT_EQ(one_line("Exception from core.cpp:117:\nLinearIR is empty\n\n"), "LinearIR is empty");
  EXPECT_EQ(one_line("one line"), "one line");
  EXPECT_EQ(one_line("\n"), "");
}

TEST(Page, CutsAndWrapsByCharactersNotBytes) {
  EXPECT_EQ(width_of("1.83 µs"), 7U);
  EXPECT_EQ(cut("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut("abc", 3), "abc");
  Page page(40, Colour::kOff);
  page.paragraph("label", "one two three four five six seven eight nine");
  EXPECT_EQ(page.take(), "label       one two three four five six\n            seven eight nine\n");
}

}  // namespace
}  // namespace fiel
