// What a confined program tries and does not get, and what it still may. Where this kernel lacks a guard, what rests on it is
// skipped, in words.
#include "base/confine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfineTest : public ::testing::Test {
 protected:
  ConfineTest() {
    EXPECT_TRUE(ensure_folder(own_));
    EXPECT_TRUE(ensure_folder(others_));
    EXPECT_TRUE(write_atomic(others_ / "precious", "as it was"));
  }

  std::string output_of(std::vector<std::string> argv, Confinement more = {}) {
    more.writable.push_back(own_);
    const auto done = run_program(argv, {.working_folder = own_, .confinement = more});
    if (!done) return done.error().message;
    return done->output + done->errors_tail;
  }

  /// "refused" or what came of it: `code` is Python that raises OSError where it is refused.
  std::string attempt(const std::string& code, const Confinement& more = {}) {
    return output_of({FIEL_PYTHON, "-c",
                      fmt::format("import ctypes, os, socket, signal, subprocess, sys, threading\n"
                                  "others = '{}'\n"
                                  "try:\n    {}\n    print('done', end='')\n"
                                  "except OSError as error: print('refused', end='')\n",
                                  others_.string(), code)},
                     more);
  }

  TempFolder folder_ = TempFolder::create({}, "fiel-confine-").value();
  fs::path own_ = folder_.path() / "own", others_ = folder_.path() / "others";
};

bool lacks_landlock(int version) {
  return kernel_guards().landlock < version;
}

#define SKIP_WITHOUT(version)                                                                             \
  if (lacks_landlock(version)) GTEST_SKIP() << "this kernel has Landlock " << kernel_guards().landlock << \
      ", this needs " << version

TEST_F(ConfineTest, ChangesNothingOutsideItsFolder) {
  SKIP_WITHOUT(3);
  for (const char* change : {"open(others + '/precious', 'w')", "open(others + '/precious', 'a')", "open(others + '/new', 'x')",
                             "os.unlink(others + '/precious')", "os.mkdir(others + '/new')", "os.rmdir(others)",
                             "os.truncate(others + '/precious', 1)", "os.symlink('x', others + '/new')",
                             "os.mkfifo(others + '/new')", "os.rename(others + '/precious', others + '/new')",
                             "os.rename(others + '/precious', 'mine')", "os.link(others + '/precious', 'mine')",
                             "open('x', 'w'); os.rename('x', others + '/precious')",
                             "os.symlink(others, 'link'); open('link/precious', 'w')",
                             "open('/dev/shm/fiel-confine-test', 'w')", "open('../beside', 'w')"}) {
    EXPECT_EQ(attempt(change), "refused") << change;
  }
  EXPECT_EQ(read_text(others_ / "precious").value(), "as it was");
  EXPECT_EQ(std::distance(fs::directory_iterator(others_), fs::directory_iterator()), 1);
}

TEST_F(ConfineTest, ReadsAndWorksInItsFolder) {
  EXPECT_EQ(attempt("open(others + '/precious').read()"), "done");
  EXPECT_EQ(attempt("os.makedirs('a/b'); open('a/x', 'w').write('x'); os.rename('a/x', 'a/b/y'); os.truncate('a/b/y', 0); "
                    "os.unlink('a/b/y'); os.removedirs('a/b')"),
            "done");
  EXPECT_EQ(attempt("open('/dev/null', 'w').write('x')"), "done");
  EXPECT_EQ(output_of({"sh", "-c", "(echo a | tr a b) && echo c > file && cat file"}), "b\nc\n") << "it may start programs";
  EXPECT_EQ(attempt("t = threading.Thread(target=lambda: print('a thread; ', end='')); t.start(); t.join()"), "a thread; done");
}

TEST_F(ConfineTest, WritesWhereItWasToldTo) {
  EXPECT_EQ(attempt("open(others + '/precious', 'a')", {.writable = {others_}}), "done");
  EXPECT_EQ(attempt("open(others + '/precious', 'a')", {.writable = {others_ / "precious"}}), "done") << "a file";
  if (!lacks_landlock(1)) {
    EXPECT_EQ(attempt("os.unlink(others + '/precious')", {.writable = {others_ / "precious"}}), "refused");
  }
  const auto missing = run_program({"true"}, {.confinement = Confinement{.writable = {"/nonexistent"}}});
  if (!lacks_landlock(1)) {
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent"));
  }
}

TEST_F(ConfineTest, HasNoNetwork) {
  if (!kernel_guards().seccomp) GTEST_SKIP() << "this kernel has no filters of system calls";
  for (const char* kind : {"socket.AF_INET", "socket.AF_INET6", "socket.AF_UNIX", "socket.AF_INET, socket.SOCK_DGRAM",
                           "socket.AF_NETLINK, socket.SOCK_RAW"}) {
    EXPECT_EQ(attempt(fmt::format("socket.socket({})", kind)), "refused") << kind;
  }
  EXPECT_EQ(attempt("socket.socketpair()"), "done") << "a pair of its own reaches nobody";
  EXPECT_EQ(attempt("socket.socket(socket.AF_INET).bind(('127.0.0.1', 0))", {.network = Network::kOpen}), "done");
}

TEST_F(ConfineTest, ReachesNoOtherProcess) {
  if (!kernel_guards().seccomp) GTEST_SKIP() << "this kernel has no filters of system calls";
  EXPECT_EQ(attempt("os.setsid()"), "refused");
  EXPECT_EQ(attempt("os.setpgid(0, 0)"), "refused");
  const auto call = [&](const std::string& arguments) {
    return attempt(fmt::format("if ctypes.CDLL(None, use_errno=True).{} == -1: raise OSError(ctypes.get_errno(), '')", arguments));
  };
  EXPECT_EQ(call("prctl(1, 0, 0, 0, 0)"), "refused") << "it dies with us, whether it wants to or not";
  EXPECT_EQ(call("prctl(15, b'name', 0, 0, 0)"), "done");
  EXPECT_EQ(call("unshare(0x10000000)"), "refused") << "a user namespace";
  EXPECT_EQ(call("process_vm_readv(os.getppid(), None, 0, None, 0, 0)"), "refused");
  EXPECT_EQ(call("syscall(425, 8, None)"), "refused") << "io_uring, which no filter can look into";
#ifndef __SANITIZE_ADDRESS__
  EXPECT_EQ(call("ptrace(16, os.getppid(), 0, 0)"), "refused");
#endif
}

TEST_F(ConfineTest, SignalsNobodyElse) {
  SKIP_WITHOUT(6);
  EXPECT_EQ(attempt("os.kill(os.getppid(), 0)"), "refused");
  EXPECT_EQ(attempt("p = subprocess.Popen(['sleep', '60']); p.kill(); p.wait()"), "done") << "its own child is its own";
}

TEST_F(ConfineTest, LeavesNoCoreAndGetsNoMoreRights) {
  EXPECT_THAT(output_of({"cat", "/proc/self/limits"}), ::testing::ContainsRegex("Max core file size +1 +1 "));
  EXPECT_THAT(output_of({"cat", "/proc/self/status"}), HasSubstr("NoNewPrivs:\t1"));
  output_of({"sh", "-c", "kill -SEGV $$"});
  EXPECT_TRUE(fs::is_empty(own_));
}

TEST(Guards, WhatAKernelLacksIsSaid) {
  EXPECT_THAT(missing_guards({.landlock = 7, .seccomp = true}), IsEmpty());
  EXPECT_EQ(enforced_guards({.landlock = 7, .seccomp = true}), "files, network, system calls, signals");
  EXPECT_THAT(missing_guards({.landlock = 2, .seccomp = true}), ::testing::SizeIs(2));
  EXPECT_THAT(missing_guards({.landlock = 4, .seccomp = false}), ::testing::Contains(HasSubstr("all but TCP")));
  EXPECT_EQ(enforced_guards({}), "nothing");
  EXPECT_THAT(missing_guards({}), ::testing::SizeIs(4));
}

}  // namespace
}  // namespace fiel
