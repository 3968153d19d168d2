#include "base/survivor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/proc.h"

namespace fiel {
namespace {

// Children are started in one place for all, so who is told of them must be global; a handler of signals may end us at any time.
std::atomic<int> survivor_pipe{-1};

constexpr int kPipe = 3;                // its descriptor in there
constexpr double kPatienceSeconds = 5;  // for processes that even SIGKILL can't end at once

// A word on the pipe: of a group, or (0) of a folder. Short enough to arrive whole or not at all.
struct Word {
  Fate fate = Fate::kBegan;
  pid_t group = 0;
  std::array<char, 504> folder = {};
};
static_assert(sizeof(Word) <= PIPE_BUF);

void tell(const Word& word) noexcept {
  const int pipe = survivor_pipe.load();
  // Never waits: one that stands still (SIGSTOP) must not hold us up.
  if (pipe >= 0) [[maybe_unused]] const ssize_t put = ::write(pipe, &word, sizeof word);
}

// Nothing of the user's stays open or busy: no lock, no pipe that somebody reads to its end, no folder.
void let_go_of_everything_but(int pipe) {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; ++i) ::dup2(nothing, i);
  if (pipe != kPipe) ::dup2(pipe, kPipe);
  ::syscall(SYS_close_range, static_cast<unsigned>(kPipe) + 1, ~0u, 0u);
  (void)!::chdir("/");
}

// Those of the groups, and those that left them: a worker's mark begins with the process id of who started it. One that is dead
// and that nobody has waited for yet counts no more: in a container it may be that nobody ever does.
std::vector<pid_t> left_of(const std::vector<pid_t>& groups, pid_t parent) {
  std::vector<pid_t> left;
  const std::string mark = child_mark_of(parent);
  for (const ProcessFacts& facts : read_all_processes()) {
    if (facts.state == 'Z' || facts.pid == ::getpid()) continue;
    const bool grouped = std::ranges::find(groups, facts.group) != groups.end();
    if (grouped || environment_has_begin(facts.pid, mark)) left.push_back(facts.pid);
  }
  return left;
}

void end_all(const std::vector<pid_t>& groups, pid_t parent) {
  const double deadline = steady_seconds() + kPatienceSeconds;
  for (bool any = true; any && steady_seconds() < deadline;) {
    for (const pid_t group : groups) ::kill(-group, SIGKILL);  // at once, before one of them forks again
    const auto left = left_of(groups, parent);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    any = !left.empty();
    if (any) ::poll(nullptr, 0, 1);
  }
}

[[noreturn]] void keep_watch(int pipe, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_NAME, "fiel-survivor");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  let_go_of_everything_but(pipe);
  std::vector<pid_t> groups;
  std::set<std::string> folders;
  for (Word word;;) {
    const ssize_t got = ::read(kPipe, &word, sizeof word);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof word)) break;
    const bool began = word.fate == Fate::kBegan;
    if (word.group == 0 && began) folders.insert(word.folder.data());
    if (word.group == 0 && !began) folders.erase(word.folder.data());
    if (word.group != 0 && began) groups.push_back(word.group);
    if (word.group != 0 && !began) std::erase(groups, word.group);
  }
  end_all(groups, parent);
  for (const std::string& folder : folders) (void)remove_tree(folder);
  ::_exit(0);
}

}  // namespace

Result<Survivor> Survivor::start() {
  FIEL_CHECK(survivor_pipe == -1);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(file_error("make", "a pipe", errno));
  Fd read(ends[0]), write(ends[1]);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return std::unexpected(file_error("start", "a process that ends others when fiel is killed", errno));
  if (pid == 0) {
    write.close();
    keep_watch(read.get(), parent);
  }
  ::fcntl(write.get(), F_SETFL, O_NONBLOCK);
  survivor_pipe = write.get();
  return Survivor(std::move(write), pid);
}

Survivor::Survivor(Survivor&& other) noexcept : pipe_(std::move(other.pipe_)), pid_(std::exchange(other.pid_, 0)) {}

Survivor::~Survivor() {
  if (pid_ == 0) return;  // moved away
  survivor_pipe = -1;
  // Asked first: of one that somebody killed, the process id may be another's by now.
  if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void tell_survivor(Fate fate, pid_t group) noexcept { tell({.fate = fate, .group = group}); }

void tell_survivor(Fate fate, const std::filesystem::path& folder) noexcept {
  Word word{.fate = fate};
  const std::string& name = folder.native();
  if (!folder.is_absolute() || name.size() >= word.folder.size()) return;
  std::ranges::copy(name, word.folder.begin());
  tell(word);
}

}  // namespace fiel
