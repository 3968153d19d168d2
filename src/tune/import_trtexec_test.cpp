#include "tune/import_trtexec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/test_folder.h"
#include "report/view.h"
#include "tune/trtexec_cache.h"

namespace fiel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// As TensorRT 11.1 writes it: a loss that is NaN comes out as null.
std::string cache_text(const std::string& arguments, const std::string& lines) {
  return R"({"tuner_version":"2.17.83","accuracy_algorithm":"l0","accuracy_parameter":{"atol":1e-05,"rtol":1e-05,"epsilon":0.5},)"
         R"("searching_algorithm":"fast","command_line":"trtexec --onnx=m.onnx","default_build_route":"-a=on -b=on","tuning_expr":"-a=[on|off] -b=[on|off]",)"
         R"("files":{"onnx":"/models/m.onnx"},"argv":["trtexec","--onnx=/models/m.onnx")" + arguments + "]}\n" + lines;
}

std::string line(int iteration, const std::string& route, const std::string& loss, const std::string& time, const std::string& crash = "false,\"error_message\":\"\"") {
  return R"({"iter":)" + std::to_string(iteration) + R"(,"build_route":")" + route + R"(","crash":)" + crash +
         R"(,"accuracy_loss":)" + loss + R"(,"gpu_time":)" + time + "}\n";
}

class ImportTrtexec : public ::testing::Test {
 protected:
  RunView import(const std::string& text) {
    const auto file = folder_.write("cache.jsonl", text);
    const auto done = import_trtexec_cache(file, folder_ / "run");
    EXPECT_TRUE(done) << done.error().message;
    auto view = read_run(folder_ / "run");
    EXPECT_TRUE(view) << view.error().message;
    return view ? *view : RunView();
  }

  TestFolder folder_;
};

TEST_F(ImportTrtexec, BecomesARunThatDecidesNothingAndSaysWhy) {
  const RunView view = import(cache_text(R"(,"--loadRefOutputs=y:ref.bin")",
                                         line(0, "-a=on -b=on", R"({"y":0.1})", "2.0") + line(1, "-a=on -b=off", R"({"y":0.2})", "1.0") +
                                             line(2, "-a=off -b=on", R"({"y":null})", "0.5") + line(3, "-a=off -b=off", R"({"y":0.7})", "0.4") +
                                             line(4, "-a=off -b=on", "null", "null", R"(true,"error_message":"child killed by signal 11")")));
  EXPECT_EQ(view.verdict, "undecided");
  EXPECT_EQ(view.baseline, 1);
  EXPECT_THAT(view.missing, Contains(HasSubstr("no samples to judge by")));
  ASSERT_EQ(view.candidates.size(), 5U);
  EXPECT_EQ(view.candidates.at(2).route, "engine=trtexec route.b=off");
  EXPECT_EQ(view.candidates.at(2).kind, "undecided");
  EXPECT_DOUBLE_EQ(view.candidates.at(2).latency->mean_seconds, 0.001);
  EXPECT_DOUBLE_EQ(*view.candidates.at(2).screen_ratio, 2.0);
  EXPECT_EQ(view.candidates.at(3).kind, "mistrusted");
  EXPECT_THAT(view.candidates.at(3).reason, HasSubstr("takes for passed"));
  EXPECT_EQ(view.candidates.at(4).kind, "wrong");
  EXPECT_EQ(view.candidates.at(5).kind, "crash");
}

TEST_F(ImportTrtexec, SeveralReferencePairsLeaveOneLoss) {
  const RunView view = import(cache_text(R"(,"--refPair=0","--refPair=1")", line(0, "-a=on -b=on", R"({"y":0.1})", "2.0")));
  EXPECT_THAT(view.candidates.at(1).reason, HasSubstr("of 2 reference pairs only the last"));
  EXPECT_THAT(view.missing, Contains(HasSubstr("2 reference pairs")));
}

TEST_F(ImportTrtexec, ALineThatWasCutOffIsLeftOutAndAnotherIsAnError) {
  EXPECT_EQ(import(cache_text("", line(0, "-a=on -b=on", "null", "2.0") + R"({"iter":1,"build_ro)")).candidates.size(), 1U);
  for (const std::string& text : {std::string(), std::string("{}\n"), cache_text("", "{\"iter\":0}\n"), cache_text("", "nonsense\nmore\n")}) {
    EXPECT_FALSE(read_trtexec_cache(folder_.write("bad.jsonl", text))) << text;
  }
}

}  // namespace
}  // namespace fiel
