// For tests of the pool: a folder with a pack of samples and a model file, workers started in it,
// and the promise that nothing is left when a test ends.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "pool/requests.h"
#include "pool/worker.h"

namespace fiel {

constexpr double kSeconds = 20;        // a deadline for what must come, also on a busy machine
constexpr double kShortSeconds = 0.3;  // and one for what never comes

/// Wall seconds that `action` takes.
double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest();
  ~WorkerTest() override;  // fails the test where a process or a descriptor is left

  WorkerSpec spec(std::vector<std::string> argv);
  /// fiel-worker-fake with a script of one input x and one output y = 2 x; `more` is JSON text of
  /// further keys.
  std::vector<std::string> fake_argv(const std::string& more);
  std::unique_ptr<Worker> start(const WorkerSpec& spec);
  std::unique_ptr<Worker> start_fake(const std::string& more = "{}") {
    return start(spec(fake_argv(more)));
  }

  BuildOrder build_order(std::map<std::string, std::string> settings = {});
  LoadOrder load_order(std::map<std::string, std::string> settings = {});
  InferOrder infer_order(std::vector<int> indices, std::int64_t batch = 1);
  MeasureOrder measure_order(std::uint64_t seed = 1);
  /// hello, build, load, infer (at batch 1 and 2), measure and bye, until one fails. Deadlines are
  /// long, but for `short_phase`.
  std::optional<Failure> drive(Worker& worker, const std::string& short_phase = "");
  /// build and load; must succeed.
  void bring_up(Worker& worker, const std::map<std::string, std::string>& settings = {});

  template <class T>
  static T value_of(Outcome<T> outcome) {
    if (auto* value = std::get_if<T>(&outcome)) return std::move(*value);
    const Failure& failure = std::get<Failure>(outcome);
    ADD_FAILURE() << failure.phase << ": " << to_string(failure.kind) << ": " << failure.message
                  << "\n"
                  << failure.log_tail;
    return {};
  }

  TempFolder folder_;
  SampleSet samples_;  // eight of x: float32 [1, 4], the elements of sample i are i, i + 0.25, i +
                       // 0.5, i + 0.75
  TrafficShape shape_;
  std::unique_ptr<WorkerPool> pool_;
  int descriptors_before_;
  int workers_ = 0;
};

}  // namespace fiel
