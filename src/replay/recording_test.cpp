#include "replay/recording.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/files.h"

namespace fiel {
namespace {

constexpr const char* kT4 = R"({"metadata":{"timeunit":"miliseconds"},"results":[
{"configuration":{"block":16,"pad":0},"times":{"compilation":900,"framework":100,"validation":0,"runtimes":[4,6]},
 "invalidity":"correct","measurements":[{"name":"time","value":5.0,"unit":""}],"objectives":["time"]},
{"configuration":{"block":8,"pad":0},"times":{"compilation":900,"framework":100,"validation":0,"runtimes":[2,4]},
 "invalidity":"correct","measurements":[{"name":"time","value":3.0,"unit":""}],"objectives":["time"]},
{"configuration":{"block":128,"pad":0},"times":{"compilation":500},"invalidity":"runtime",
 "measurements":[{"name":"time","value":"RuntimeFailedConfig","unit":""}],"objectives":["time"]}]})";

TEST(Recording, T4TimesAreMillisecondsAndFailuresAreRecords) {
  const auto raw = parse_t4(kT4);
  ASSERT_TRUE(raw) << raw.error().message;
  const auto recording = make_recording("t4", *raw);
  ASSERT_TRUE(recording) << recording.error().message;
  ASSERT_EQ(recording->records.size(), 3u);
  const Knob* block = recording->space.find_knob("recorded", "block");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->values, (std::vector<std::string>{"8", "16", "128"}));          // as numbers
  EXPECT_EQ(recording->space.find_knob("recorded", "pad"), nullptr);               // the same everywhere
  const Recorded& plain = recording->records.at({"recorded", {}});
  EXPECT_DOUBLE_EQ(plain.fixed_seconds, 1.0);
  EXPECT_DOUBLE_EQ(plain.timing_seconds, 0.006);
  EXPECT_EQ(plain.found(), 3.0);
  const Recorded& failed = recording->records.at({"recorded", {{"block", "128"}}});
  EXPECT_EQ(failed.outcome, Trial::Outcome::kFailed);
  EXPECT_DOUBLE_EQ(failed.seconds(), 0.5);
}

TEST(Recording, CsvTakesTheLastColumnAsCost) {
  const auto raw = parse_csv("a,b,cost\n0,0,3\n0,1,2.5\r\n1,1,nan\n");
  ASSERT_TRUE(raw);
  const auto recording = make_recording("csv", *raw);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->space.size(), 3.0);  // a=1 b=0 was not recorded
  EXPECT_EQ(recording->records.at({"recorded", {{"b", "1"}}}).found(), 2.5);
  EXPECT_FALSE(recording->records.at({"recorded", {{"a", "1"}, {"b", "1"}}}).found());
}

TEST(Recording, OurOwnAreJudgedBeside32BitFloats) {
  const std::string line = R"({"engine":"ov","variant":"VARIANT","shape":"dyn","opts":{"cfg":{"session.x":"1"}},"rounds":[{"p50":P50,"wall_s":0.5}],)"
                           R"("acc":{"tune":SCORE,"nan_samples":0,"eval_s":1.0},"err":{"maxabs": NaN}})";
  const auto with = [&](std::string variant, std::string p50, std::string score) {
    std::string text = line;
    text.replace(text.find("VARIANT"), 7, variant);
    text.replace(text.find("P50"), 3, p50);
    text.replace(text.find("SCORE"), 5, score);
    return text + "\n";
  };
  const auto raw = parse_own(with("fp32", "2.0", "0.98") + with("int8", "1.0", "0.975") + with("int4", "0.5", "0.9"));
  ASSERT_TRUE(raw) << raw.error().message;
  EXPECT_EQ((*raw)[1].recorded.outcome, Trial::Outcome::kAdmissibleSoFar);
  EXPECT_EQ((*raw)[2].recorded.outcome, Trial::Outcome::kRejected);
  EXPECT_EQ((*raw)[2].recorded.value, 0.5);   // told to a strategy, but nothing to find
  EXPECT_FALSE((*raw)[2].recorded.found());
  EXPECT_DOUBLE_EQ((*raw)[1].recorded.seconds(), 1.5);
  EXPECT_EQ((*raw)[1].settings[2].first, "session.x");
}

TEST(Recording, ErrorsNameTheLineOrTheKey) {
  EXPECT_EQ(parse_csv("a,cost\n0,1\n1\n").error().message, "line 3: 1 cells under 2 columns");
  EXPECT_EQ(parse_csv("a,cost\n0,fast\n").error().message, "line 2: the cost 'fast' is not a number");
  EXPECT_NE(parse_t4(R"({"results":[{"times":{}}]})").error().message.find("results[0].configuration"), std::string::npos);
  EXPECT_NE(parse_t4(R"({"metadata":{"timeunit":"hours"},"results":[]})").error().message.find("timeunit"), std::string::npos);
  EXPECT_FALSE(parse_t4(R"({"results":[{"configuration":{"x":1},"objectives":["GFLOP/s"]}]})"));
  EXPECT_NE(parse_own("\n{\"engine\":1}\n").error().message.find("line 2"), std::string::npos);
  EXPECT_FALSE(make_recording("negative", *parse_csv("a,cost\n0,-1\n1,2\n")));
  EXPECT_FALSE(read_recording("/no/such/file.csv"));
  EXPECT_FALSE(read_recording("recording.xlsx"));
}

TEST(Recording, AConfigurationThatComesAgainIsLeftOutAndCounted) {
  const auto recording = make_recording("twice", *parse_csv("a,cost\n0,1\n1,2\n0,5\n"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->repeated, 1);
  EXPECT_EQ(recording->records.at({"recorded", {}}).found(), 1.0);
}

TEST(Recording, ReadsCompressedFilesAndRefusesDamagedOnes) {
  const auto folder = *TempFolder::create({}, "fiel-recording-");
  const auto path = folder.path() / "space.json.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kT4);
  gzclose(file);
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->name, "space");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_FALSE(read_recording(path));
}

}  // namespace
}  // namespace fiel
