// A coordinator that is killed, and what its children had started.
#include "base/survivor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/proc.h"
#include "base/subprocess.h"

namespace fiel {
namespace {

// How many processes have this word on their command line: those whose name it is have ended when there is none.
int processes_named(const std::string& word) {
  int count = 0;
  for (const ProcessFacts& facts : read_all_processes()) {
    const std::string line = read_text("/proc/" + std::to_string(facts.pid) + "/cmdline").value_or("");
    if (facts.pid != ::getpid() && facts.state != 'Z' && line.find(word) != std::string::npos) ++count;
  }
  return count;
}

bool comes_to_be(int count, const std::string& word) {
  const double deadline = steady_seconds() + 10;
  while (processes_named(word) != count) {
    if (steady_seconds() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A coordinator, which starts `script` and stands still.
pid_t start_coordinator(const std::string& script, const std::filesystem::path& parent, bool with_survivor) {
  const pid_t coordinator = ::fork();
  if (coordinator != 0) return coordinator;
  std::optional<Survivor> survivor;
  if (with_survivor) survivor.emplace(Survivor::start().value());
  const auto folder = TempFolder::create(parent, "of-coordinator-").value();
  auto child = Child::start({.argv = {"sh", "-c", script}});
  for (;;) ::pause();
}

// Three that outlive the shell that dies with the coordinator: one in its group, one in it without our mark, one that left it.
std::string script_of(const std::string& word) {
  const std::string sleep = "exec -a " + word + " sleep 300";
  return "bash -c '" + sleep + "' & env -i bash -c '" + sleep + "' & setsid bash -c '" + sleep + "' & wait";
}

TEST(Survivor, EndsAllThatAKilledCoordinatorsChildrenStarted) {
  const std::string word = "fiel-survivor-test-" + std::to_string(::getpid());
  const auto parent = TempFolder::create({}, "fiel-survivor-test-").value();
  const pid_t coordinator = start_coordinator(script_of(word), parent.path(), true);
  ASSERT_TRUE(comes_to_be(4, word)) << "the shell that started them, and three of its children";
  ::kill(coordinator, SIGKILL);
  ::waitpid(coordinator, nullptr, 0);
  EXPECT_TRUE(comes_to_be(0, word));
  for (int i = 0; i < 1000 && !std::filesystem::is_empty(parent.path()); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(std::filesystem::is_empty(parent.path())) << "its temporary folder";
}

TEST(Survivor, WithoutItTheyWouldLiveOn) {  // else the test above would show nothing
  const std::string word = "fiel-orphan-test-" + std::to_string(::getpid());
  const auto parent = TempFolder::create({}, "fiel-survivor-test-").value();
  const pid_t coordinator = start_coordinator(script_of(word), parent.path(), false);
  ASSERT_TRUE(comes_to_be(4, word));
  ::kill(coordinator, SIGKILL);
  ::waitpid(coordinator, nullptr, 0);
  ASSERT_TRUE(comes_to_be(3, word));
  for (const ProcessFacts& facts : read_all_processes()) {
    const std::string line = read_text("/proc/" + std::to_string(facts.pid) + "/cmdline").value_or("");
    if (facts.pid != ::getpid() && line.find(word) != std::string::npos) ::kill(facts.pid, SIGKILL);
  }
}

TEST(Survivor, EndsWithItsObjectAndAlsoWhereItWasKilledOrStopped) {
  for (const int signal : {0, SIGKILL, SIGSTOP}) {
    pid_t pid = 0;
    {
      const auto survivor = Survivor::start();
      ASSERT_TRUE(survivor);
      pid = survivor->pid();
      ASSERT_EQ(::kill(pid, signal), 0);
      EXPECT_TRUE(run_program({"true"}, {}).has_value());
    }
    EXPECT_EQ(::kill(pid, 0), -1) << signal;
  }
}

}  // namespace
}  // namespace fiel
