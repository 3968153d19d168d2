#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/proc.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Result<ProgramResult> shell(const std::string& script, const ProgramOptions& options = {}) {
  return run_program({"sh", "-c", script}, options);
}

int open_descriptors() {
  const auto folder = fs::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(folder), end(folder)));
}

int children_of_ours() {
  int count = 0;
  for (const ProcessFacts& facts : read_all_processes())
    count += facts.parent == ::getpid() ? 1 : 0;
  return count;
}

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Reads a child's output until it holds `text`; the child has then come that far.
std::string read_until(Child& child, const std::string& text) {
  std::string output;
  while (output.find(text) == std::string::npos) {
    pollfd watch{child.output().get(), POLLIN, 0};
    if (::poll(&watch, 1, 5000) <= 0) break;
    if (read_available(child.output(), output, 4096) == Flow::kClosed) break;
  }
  return output;
}

TEST(RunProgram, GivesInputAndReturnsOutputErrorsAndStatus) {
  const auto result = shell("cat; echo problem >&2; exit 3", {.input = "hello"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "hello");
  EXPECT_EQ(result->errors_tail, "problem\n");
  EXPECT_EQ(result->exit.status, 3);
  EXPECT_EQ(to_string(result->exit), "exit status 3");
}

TEST(RunProgram, ASignalIsNamed) {
  const auto result = shell("kill -SEGV $$");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit.signal, SIGSEGV);
  EXPECT_THAT(to_string(result->exit), HasSubstr("signal 11 (segmentation fault"));
}

TEST(RunProgram, AMissingProgramIsAnErrorBeforeAnythingRuns) {
  const auto by_name = run_program({"fiel-no-such-program"}, {});
  ASSERT_FALSE(by_name);
  EXPECT_EQ(by_name.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(by_name.error().message, HasSubstr("not found in PATH"));
  const auto by_path = run_program({"/nonexistent/program"}, {});
  ASSERT_FALSE(by_path);
  EXPECT_THAT(by_path.error().message, HasSubstr("/nonexistent/program: no such file"));
  const auto not_executable = run_program({"/etc/passwd"}, {});
  ASSERT_FALSE(not_executable);
  EXPECT_THAT(not_executable.error().message, HasSubstr("permission denied"));
  const auto folder = run_program({"true"}, {.working_folder = "/nonexistent"});
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("cannot enter /nonexistent"));
}

TEST(RunProgram, LargeInputAndOutputDoNotBlockEachOther) {
  const std::string large(3 << 20, 'x');
  const auto result = run_program({"cat"}, {.input = large});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, large);
}

TEST(RunProgram, AProgramThatDoesNotReadItsInputCanStillEnd) {
  const std::string large(3 << 20, 'x');
  const auto result = run_program({"true"}, {.input = large});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->exit.is_success());
}

TEST(RunProgram, TooMuchOutputIsRefused) {
  const auto result = run_program({"yes"}, {.max_output_bytes = 1 << 20});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kProtocol);
}

TEST(RunProgram, ALateProgramIsEndedWithAllThatItStarted) {
  const int before = children_of_ours();
  const double seconds = seconds_of([] {
    const auto result =
        shell("trap '' TERM; sleep 60 & setsid sleep 60 & wait", {.timeout_seconds = 0.2});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  });
  EXPECT_LT(seconds, 2);
  EXPECT_EQ(children_of_ours(), before);
}

TEST(RunProgram, AGrandchildThatHoldsThePipeDoesNotHoldUs) {
  const int before = children_of_ours();
  const double seconds = seconds_of([] {
    const auto result = shell("sleep 60 & (setsid sleep 60 &) ; echo done");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->output, "done\n");
  });
  EXPECT_LT(seconds, 2);
  EXPECT_EQ(children_of_ours(), before);
}

TEST(RunProgram, StopsWhenCancelled) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd read(ends[0]), write(ends[1]);
  ASSERT_EQ(::write(write.get(), "x", 1), 1);
  const auto result = shell("sleep 60", {.cancel_fd = read.get()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
}

TEST(RunProgram, OnlyNamedVariablesPassOn) {
  ::setenv("FIEL_TEST_SECRET", "1", 1);
  ::setenv("LC_FIEL", "1", 1);
  const auto environment = clean_environment({{"GIVEN", "a b"}});
  EXPECT_THAT(environment, Contains("GIVEN=a b"));
  EXPECT_THAT(environment, Contains("LC_FIEL=1"));
  EXPECT_THAT(environment, Contains(StartsWith("PATH=")));
  EXPECT_THAT(environment, Not(Contains(StartsWith("FIEL_TEST_SECRET"))));
  EXPECT_EQ(shell("echo $GIVEN$FIEL_TEST_SECRET", {.environment = {{"GIVEN", "2"}}})->output,
            "2\n");
}

TEST(RunProgram, NoDescriptorPassesOnAndNoneIsLeftOpen) {
  const int before = open_descriptors();
  const Fd inherited(
      ::open("/dev/null", O_RDONLY));  // without close-on-exec, as some library might
  EXPECT_EQ(shell("ls /proc/self/fd | wc -l")->output, "4\n");  // 0, 1, 2 and the folder itself
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST(RunProgram, NoCoreFileAndNormalSignals) {
  EXPECT_EQ(shell("ulimit -c")->output, "0\n") << "one byte, in blocks";
  EXPECT_EQ(shell("kill -PIPE $$")->exit.signal, SIGPIPE);  // we ignore it, the child does not
}

TEST(Child, RunsOnTheCoresGiven) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(core), &allowed)) ++core;
  auto child = Child::start(
      {.argv = {"sh", "-c", "grep Cpus_allowed_list /proc/self/status; echo ."}, .cores = {core}});
  ASSERT_TRUE(child);
  EXPECT_THAT(read_until(*child, ".\n"), HasSubstr("\t" + std::to_string(core) + "\n"));
  const auto none = Child::start({.argv = {"true"}, .cores = {1000}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("cores"));
}

TEST(Child, IsAGroupOfItsOwnAndEndsEvenWhenStopped) {
  auto child = Child::start({.argv = {"sh", "-c", "echo up; kill -STOP $$; sleep 60"}});
  ASSERT_TRUE(child);
  read_until(*child, "up");
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
  const pid_t pid = child->pid();
  EXPECT_EQ(child->end(5).signal, SIGTERM);
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Child, DiesWithTheProcessThatStartedIt) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd read(ends[0]), write(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0,
          0);  // so that the orphan becomes ours and we can see how it ended
  const pid_t starter = ::fork();
  if (starter == 0) {
    auto child = Child::start({.argv = {"sleep", "60"}});
    const pid_t pid = child ? child->pid() : -1;
    (void)!::write(write.get(), &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(read.get(), &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  ASSERT_GT(grandchild, 0);
  ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
  int status = 0;
  ASSERT_EQ(::waitpid(grandchild, &status, 0), grandchild);
  EXPECT_TRUE(
      WIFSIGNALED(status));  // without PR_SET_PDEATHSIG it sleeps for a minute and exits with 0
}

}  // namespace
}  // namespace fiel
