#include "worker/serve.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/npy.h"
#include "model/test_folder.h"
#include "worker/self_timed.h"
#include "worker/test_engine.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServeTest : public ::testing::Test {
 protected:
  // Files in place of pipes: nothing waits for anybody.
  std::vector<Json> talk(const std::string& lines) {
    folder_.write("requests", lines);
    const Fd requests(::open((folder_ / "requests").c_str(), O_RDONLY));
    const Fd answers(::open((folder_ / "answers").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    status_ = serve_on(engine_, {.requests = requests.get(), .answers = answers.get()});
    return parse(folder_.read("answers"));
  }
  static std::vector<Json> parse(const std::string& text) {
    std::vector<Json> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(Json::parse(line));
    return all;
  }
  Json load() const {
    return {{"id", 1},
            {"type", "load"},
            {"artifact_dir", folder_.path().string()},
            {"device", "CPU"},
            {"settings", Json::object()},
            {"shapes", Json::array()},
            {"scenario", "single_stream"}};
  }
  Json measure() {
    return {{"id", 2},
            {"type", "measure"},
            {"scenario", "single_stream"},
            {"batch", 1},
            {"warmup_count", 2},
            {"min_count", 5},
            {"min_seconds", 0.0},
            {"max_seconds", 100},
            {"seed", 1},
            {"samples", samples(3)},
            {"latency_file", (folder_ / "latencies").string()},
            {"output_dir", folder_.path().string()}};
  }
  Json samples(int count) {
    std::vector<SampleFiles> all;
    for (int i = 0; i < count; ++i) {
      const auto value = static_cast<float>(i);
      all.push_back(
          {.index = 10 + i, .inputs = {{"x", pack_.add(floats({1, 2}, {value, value}))}}});
    }
    return to_json(all);
  }
  Json last_answer_to(const Json& request) {
    const std::vector<Json> answers = talk(load().dump() + "\n" + request.dump() + "\n");
    EXPECT_THAT(answers, SizeIs(2));
    EXPECT_EQ(answers.back()["id"], request["id"]);
    return answers.back();
  }

  TestFolder folder_;
  TestPack pack_{folder_ / "samples.pack"};
  TestEngine engine_;
  int status_ = -1;
};

TEST_F(ServeTest, SaysHelloAndBye) {
  const auto answers =
      talk("{\"id\":7,\"type\":\"hello\",\"protocol\":1}\n{\"id\":8,\"type\":\"bye\"}\n");
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(answers[0]["id"], 7);
  EXPECT_EQ(answers[0]["type"], "result");
  EXPECT_EQ(answers[0]["protocol"], 1);
  EXPECT_EQ(answers[0]["engine"], "test");
  EXPECT_EQ(answers[0]["pid"], ::getpid());
  EXPECT_EQ(answers[1], Json::parse(R"({"id":8,"type":"result"})"));
  EXPECT_EQ(status_, 0);
}

TEST_F(ServeTest, EndsQuietlyWithItsInput) {
  EXPECT_THAT(talk(""), SizeIs(0));
  EXPECT_EQ(status_, 0);
}

TEST_F(ServeTest, GivesUpOnALineThatCannotBeAnswered) {
  for (const char* line : {"not json\n", "{\"type\":\"hello\"}\n", "[]\n", "\n"}) {
    EXPECT_THAT(talk(line), SizeIs(0));
    EXPECT_EQ(status_, 1);
  }
}

TEST_F(ServeTest, AnswersWhatItDoesNotKnowWithBadRequest) {
  const auto answers = talk(
      "{\"id\":1,\"type\":\"dance\"}\n{\"id\":2}\n{\"id\":3,\"type\":\"hello\",\"protocol\":2}\n"
      "{\"id\":4,\"type\":\"infer\"}\n{\"id\":5,\"type\":\"measure\"}\n");
  ASSERT_THAT(answers, SizeIs(5));
  for (const Json& answer : answers) {
    EXPECT_EQ(answer["type"], "error");
    EXPECT_EQ(answer["reason"], "bad_request");
  }
  EXPECT_THAT(answers[0]["message"], HasSubstr("dance"));
  EXPECT_THAT(answers[1]["message"], HasSubstr("type"));
  EXPECT_THAT(answers[2]["message"], HasSubstr("\"protocol\" is 2"));
  EXPECT_THAT(answers[3]["message"], HasSubstr("nothing is loaded"));
}

TEST_F(ServeTest, BuildsAndPassesOnTheEnginesWords) {
  Json request = {{"id", 1},
                  {"type", "build"},
                  {"model", "/m.onnx"},
                  {"device", "CPU"},
                  {"settings", {{"a", "1"}}},
                  {"shapes", Json::array()},
                  {"artifact_dir", folder_.path().string()}};
  const auto built = talk(request.dump() + "\n");
  EXPECT_EQ(built[0],
            Json::parse(R"({"id":1,"type":"result","build_seconds":0.5,"effective":{"a":"1"},
      "precisions":{"f32":3},"graph_digest":"ab","ignored":["k"]})"));
  request["settings"]["bad"] = "1";
  EXPECT_EQ(
      talk(request.dump() + "\n")[0],
      Json::parse(
          R"({"id":1,"type":"error","reason":"unsupported","message":"no such setting: bad"})"));
}

TEST_F(ServeTest, InfersAndWritesOutputs) {
  const Json answer = last_answer_to({{"id", 3},
                                      {"type", "infer"},
                                      {"batch", 2},
                                      {"samples", samples(3)},
                                      {"output_dir", folder_.path().string()}});
  ASSERT_EQ(answer["type"], "result") << answer;
  EXPECT_GE(answer["seconds"].get<double>(), 0);
  ASSERT_THAT(answer["outputs"], SizeIs(3));
  EXPECT_EQ(answer["outputs"][2]["index"], 12);
  const auto y = read_npy(folder_ / answer["outputs"][2]["files"]["y/0"].get<std::string>());
  ASSERT_TRUE(y);
  EXPECT_EQ(y->shape, (Shape{1, 2}));
  EXPECT_THAT(values(y->view()), ElementsAre(4, 4));
}

TEST_F(ServeTest, MeasuresAndWritesEveryLatency) {
  const Json answer = last_answer_to(measure());
  ASSERT_EQ(answer["type"], "result") << answer;
  EXPECT_EQ(answer["count"], 5);
  EXPECT_THAT(answer["warmup_seconds"], SizeIs(2));
  EXPECT_EQ(folder_.read("latencies").size(), 5 * sizeof(double));
  ASSERT_THAT(answer["outputs"], SizeIs(1));
  EXPECT_EQ(answer["outputs"][0]["index"], 10);  // the seventh of three samples in turn
  EXPECT_TRUE(
      std::filesystem::exists(folder_ / answer["outputs"][0]["files"]["y/0"].get<std::string>()));
}

TEST_F(ServeTest, LeavesTheTimingToAnEngineThatTimesItself) {
  struct Timer : SelfTimed {
    EngineResult<SelfTimedBlock> time_block(const Feed& feed, const std::string& scenario, const LoopLimits& limits) override {
      EXPECT_EQ(feed.item_count(), 3U);
      EXPECT_EQ(scenario, "single_stream");
      SelfTimedBlock block{.report = {}, .told = {{"device_p50_seconds", 0.125}}};
      block.report.count = limits.min_count;
      block.report.latency_seconds.assign(static_cast<std::size_t>(limits.min_count), 0.25);
      block.report.last = {.item = 1, .steps = {}};
      block.report.last.steps.push_back({floats({1, 2}, {7, 8})});
      return block;
    }
  } timer;
  engine_.timer = &timer;
  const Json answer = last_answer_to(measure());
  ASSERT_EQ(answer["type"], "result") << answer;
  EXPECT_EQ(answer["count"], 5);
  EXPECT_EQ(answer["device_p50_seconds"], 0.125);
  EXPECT_EQ(answer["outputs"][0]["index"], 11);
  EXPECT_THAT(engine_.ran, SizeIs(0));
  EXPECT_EQ(folder_.read("latencies").size(), 5 * sizeof(double));
}

TEST_F(ServeTest, NamesTheKeyOfAMeasureRequestThatIsWrong) {
  const std::vector<std::pair<const char*, Json>> wrong = {{"batch", 0},
                                                           {"batch", "1"},
                                                           {"warmup_count", -1},
                                                           {"min_count", 0},
                                                           {"min_seconds", -0.1},
                                                           {"max_seconds", nullptr},
                                                           {"samples", 3},
                                                           {"latency_file", "relative"},
                                                           {"output_dir", "/no/such/folder"},
                                                           {"scenario", "burst"}};
  for (const auto& [key, value] : wrong) {
    Json request = measure();
    request[key] = value;
    const Json answer = last_answer_to(request);
    EXPECT_EQ(answer["reason"], "bad_request") << key;
    EXPECT_THAT(answer["message"], HasSubstr("\"" + std::string(key) + "\""));
    request.erase(key);
    EXPECT_EQ(last_answer_to(request)["reason"], "bad_request") << key;
  }
}

TEST_F(ServeTest, ServesRequestsWhenTheyAreDue) {
  const std::vector<double> arrivals = {0.001, 0.002, 0.002, 0.004};
  const auto write = [&](const std::vector<double>& times) {
    const std::string_view bytes(reinterpret_cast<const char*>(times.data()),
                                 times.size() * sizeof(double));
    ASSERT_TRUE(write_atomic(folder_ / "arrivals", bytes));
  };
  Json request = measure();
  request["scenario"] = "server";
  EXPECT_EQ(last_answer_to(request)["reason"], "bad_request");  // no arrivals_file
  request["arrivals_file"] = (folder_ / "arrivals").string();
  write(arrivals);
  const Json answer = last_answer_to(request);
  ASSERT_EQ(answer["type"], "result") << answer;
  EXPECT_EQ(answer["count"], 4);
  EXPECT_EQ(folder_.read("latencies").size(), 4 * sizeof(double));
  for (const std::vector<double>& wrong :
       {std::vector<double>{}, {0.2, 0.1}, {-1.0}, {std::nan("")}}) {
    write(wrong);
    EXPECT_EQ(last_answer_to(request)["reason"], "bad_request") << wrong.size();
  }
}

TEST_F(ServeTest, NamesTheKeyOfALoadRequestThatIsWrong) {
  const std::vector<std::pair<const char*, Json>> wrong = {
      {"artifact_dir", "/no/such/folder"}, {"device", 1},   {"settings", {{"a", 1}}},
      {"shapes", {{{"x", {-1}}}}},         {"state", {{}}}, {"scenario", "burst"}, {"profile", 1}};
  for (const auto& [key, value] : wrong) {
    Json request = load();
    request[key] = value;
    const auto answers = talk(request.dump() + "\n");
    EXPECT_EQ(answers.at(0)["reason"], "bad_request") << key;
  }
}

TEST_F(ServeTest, TellsTheTimesOfNodesWhereTheEngineCan) {
  EXPECT_EQ(talk("{\"id\":4,\"type\":\"profile\"}\n").at(0)["reason"], "bad_request");  // nothing is loaded
  EXPECT_EQ(last_answer_to({{"id", 4}, {"type", "profile"}})["reason"], "unsupported");
  engine_.node_times = {{.names = {"conv", "relu"}, .seconds = 0.25}};
  EXPECT_EQ(last_answer_to({{"id", 4}, {"type", "profile"}})["nodes"], Json::parse(R"([{"names":["conv","relu"],"seconds":0.25}])"));
}

TEST_F(ServeTest, AnExceptionOutOfTheEngineIsAnError) {
  engine_.on_run = [](int, float) { throw std::runtime_error("the engine's own words"); };
  const Json answer = last_answer_to(measure());
  EXPECT_EQ(answer["reason"], "internal");
  EXPECT_EQ(answer["message"], "the engine's own words");
  engine_.on_run = [](int, float) { throw std::bad_alloc(); };
  EXPECT_EQ(last_answer_to(measure())["reason"], "out_of_memory");
}

TEST_F(ServeTest, RunsTheStepsOfASequence) {
  engine_.has_state = true;
  Json request = load();
  request["state"] = {{{"output", "h_out"}, {"input", "h"}}};
  const std::vector<SampleFiles> sequence{
      {.index = 5, .inputs = {{"x", pack_.add(floats({3, 1, 2}, {1, 1, 1, 1, 1, 1}))}}}};
  const Json infer = {{"id", 3},
                      {"type", "infer"},
                      {"batch", 1},
                      {"samples", to_json(sequence)},
                      {"output_dir", folder_.path().string()}};
  const auto answers = talk(request.dump() + "\n" + infer.dump() + "\n");
  ASSERT_EQ(answers[1]["type"], "result") << answers[1];
  const auto y = read_npy(folder_ / answers[1]["outputs"][0]["files"]["y/0"].get<std::string>());
  EXPECT_EQ(y->shape, (Shape{3, 1, 2}));
  EXPECT_THAT(values(y->view()), ElementsAre(2, 2, 3, 3, 4, 4));
}

TEST_F(ServeTest, WhatAnEnginePrintsNeverReachesTheCoordinator) {
  int to_worker[2], from_worker[2];
  ASSERT_EQ(::pipe2(to_worker, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(from_worker, O_CLOEXEC), 0);
  const std::string log = folder_ / "log";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to_worker[0], 0);
    ::dup2(from_worker[1], 1);
    ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::close(to_worker[1]);
    ::_exit(serve(engine_));
  }
  const Fd answers(from_worker[0]);
  ::close(to_worker[0]);
  ::close(from_worker[1]);
  const std::string request = "{\"id\":1,\"type\":\"hello\",\"protocol\":1}\n";
  ASSERT_EQ(::write(to_worker[1], request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  ::close(to_worker[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(answers.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const auto lines = parse(text);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["engine"], "test");
  EXPECT_EQ(folder_.read("log"), "engines print\n");
}

}  // namespace
}  // namespace fiel
