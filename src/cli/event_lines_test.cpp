#include "cli/event_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace fiel {
namespace {

using ::testing::ElementsAre;

// The lines written into a stream of memory.
class Written {
 public:
  ~Written() {
    std::fclose(stream_);
    std::free(text_);
  }
  std::FILE* stream() { return stream_; }
  std::vector<Json> lines() {
    std::fflush(stream_);
    std::vector<Json> found;
    std::string_view rest(text_, size_);
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      found.push_back(parse_json(rest.substr(0, end)).value());
      rest.remove_prefix(end + 1);
    }
    return found;
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_ = open_memstream(&text_, &size_);
};

std::vector<std::string> kinds_of(const std::vector<Json>& lines) {
  std::vector<std::string> kinds;
  for (const Json& line : lines) kinds.push_back(line["event"]);
  return kinds;
}

TEST(EventLines, TellOfACandidateWhenSomethingIsNewAboutIt) {
  Written written;
  SilentProgress people;
  EventLines events(written.stream(), people);
  Standing standing;
  standing.candidates[3].id = 3;
  standing.candidates[3].route = {.engine = "fake", .settings = {{"SPEED", "fast"}}};
  events.recorded(standing);
  events.recorded(standing);
  standing.candidates[3].screen_log_ratio = std::log(1.5);
  events.recorded(standing);
  standing.candidates[3].status = CandidateStatus::kWrongSlice;
  standing.candidates[3].reason = "lost too much";
  events.recorded(standing);
  const auto lines = written.lines();
  ASSERT_THAT(kinds_of(lines), ElementsAre("candidate", "candidate", "candidate"));
  EXPECT_TRUE(lines[0]["screen_ratio"].is_null());
  EXPECT_DOUBLE_EQ(lines[1]["screen_ratio"], 1.5);
  EXPECT_EQ(lines[2]["status"], "inadmissible");
  EXPECT_EQ(lines[2]["kind"], "wrong_slice");
  EXPECT_EQ(lines[2]["reason"], "lost too much");
  EXPECT_EQ(lines[2]["route"], "engine=fake SPEED=fast");
}

TEST(EventLines, BeginWithTheRunAndEndWithTheVerdict) {
  Written written;
  SilentProgress people;
  EventLines events(written.stream(), people);
  events.begin("/runs/one");
  events.stage("search", "24 routes");
  events.warn("the machine is busy");
  events.end(Verdict{.word = VerdictWord::kImproved, .ships = 3, .winner = 3, .reason = "faster", .missing = {}}, ExitStatus::kDecided);
  const auto lines = written.lines();
  ASSERT_THAT(kinds_of(lines), ElementsAre("run", "stage", "note", "end"));
  EXPECT_EQ(lines[0]["format"], kEventLinesFormat);
  EXPECT_EQ(lines[1]["name"], "search");
  EXPECT_EQ(lines[3]["verdict"], "improved");
  EXPECT_EQ(lines[3]["exit_status"], 0);
  EXPECT_TRUE(lines[3]["error"].is_null());
  for (const Json& line : lines) EXPECT_TRUE(line["at_seconds"].is_number());
}

TEST(EventLines, SayWhatStoppedARun) {
  Written written;
  SilentProgress people;
  EventLines events(written.stream(), people);
  events.end(std::unexpected(Error{.kind = ErrorKind::kEnvironment, .message = "no space left", .hint = ""}), ExitStatus::kEnvironment);
  const Json line = written.lines().front();
  EXPECT_EQ(line["error"], "no space left");
  EXPECT_EQ(line["exit_status"], 5);
  EXPECT_TRUE(line["verdict"].is_null());
}

TEST(EventLines, KnowWhenNobodyReadsThem) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  SilentProgress people;
  EventLines events(full, people);
  events.stage("search", "");
  EXPECT_FALSE(events.complete());
  std::fclose(full);
}

}  // namespace
}  // namespace fiel
