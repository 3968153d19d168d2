#include "report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_run.h"

namespace fiel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RunView table_of(void (*story)(const std::filesystem::path&)) {
  const TestFolder folder;
  story(folder.path());
  return read_run(folder.path()).value();
}

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Csv, HasALineForEachCandidateAndNothingWhereNothingWasMeasured) {
  const auto lines = split_lines(format_csv(table_of(write_improved)));
  ASSERT_EQ(lines.size(), 1U + 9U);
  EXPECT_THAT(lines[0], StartsWith("id,status,kind,ships,roles,engine,route,times_as_fast,sessions,latency_mean_us,"));
  EXPECT_THAT(lines[4], StartsWith("4,admissible,admissible,yes,,openvino,"
                                   "engine=openvino NUM_STREAMS=1 ONEDNN_MAX_CPU_ISA=AVX2 shape=static,1.835,10,"));
  EXPECT_THAT(lines[2], StartsWith("2,admissible,admissible,no,baseline default,openvino,engine=openvino,"));
  EXPECT_THAT(lines[7], StartsWith("7,failed,crash,no,,openvino,engine=openvino NUM_STREAMS=2,,,,,,,,,,,,,,ended by signal 11 (SIGSEGV),"));
  EXPECT_THAT(lines[5], HasSubstr("\"exact_match lost 0.053 on slice small (margin 0.050, n 300)\"")) << "a comma is inside";
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("nan")));
}

TEST(Markdown, SaysTheVerdictWithItsIntervalAndMarksWhatShips) {
  const std::string text = format_markdown(table_of(write_improved));
  EXPECT_THAT(text, StartsWith("**improved**: #4 is proven faster"));
  EXPECT_THAT(text, HasSubstr("1.83 times as fast as the baseline (#2) [1.80, 1.87] (97.9 % interval, 10 sessions), "
                              "proven on 1000 hold-out samples."));
  EXPECT_THAT(text, HasSubstr("| 4 | 1.83 | 10 | 7.14 ms | 153 MiB | 60 % | **ships** | `engine=openvino NUM_STREAMS=1"));
  EXPECT_THAT(text, HasSubstr("| 2 | 1 |  | 13.1 ms |"));
  EXPECT_THAT(text, HasSubstr("| baseline | `engine=openvino` |"));
  EXPECT_THAT(text, Not(HasSubstr("| 7 |"))) << "a crash is no row";
}

TEST(Markdown, ShowsAnInadmissibleBaselineAsSuchAndWhatIsMissing) {
  EXPECT_THAT(format_markdown(table_of(write_not_improved)), HasSubstr("baseline, wrong_slice | `engine=openvino` |"));
  EXPECT_THAT(format_markdown(table_of(write_undecided)), HasSubstr("\n- missing: #4 accuracy: exact_match: drop at most 0.012"));
  EXPECT_THAT(format_markdown(table_of(write_unfinished)), StartsWith("**no verdict yet**"));
  EXPECT_THAT(format_markdown(table_of(write_infeasible)), StartsWith("**infeasible**: "));
}

}  // namespace
}  // namespace fiel
