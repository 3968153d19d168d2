#include "base/subprocess.h"

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
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/launch.h"
#include "base/proc.h"
#include "base/survivor.h"

extern char** environ;

namespace fiel {
namespace {

// The groups that live now. Global, since a signal handler must be able to end them, and since an
// orphan that comes to us must be told from a child of ours; a fixed array of atomics, since a
// handler may not take locks or memory.
constexpr std::size_t kMaxChildren = 2048;  // three for each machine of a large fleet
std::array<std::atomic<pid_t>, kMaxChildren> live_groups{};

bool remember(pid_t group) {
  for (auto& slot : live_groups) {
    pid_t empty = 0;
    if (slot.compare_exchange_strong(empty, group)) return true;
  }
  return false;
}

void forget(pid_t group) {
  for (auto& slot : live_groups) {
    pid_t expected = group;
    slot.compare_exchange_strong(expected, 0);
  }
}

bool is_child_of_ours(pid_t pid) {
  return std::any_of(live_groups.begin(), live_groups.end(),
                     [&](const auto& slot) { return slot == pid; });
}

// Of one length always: the size of the environment moves the stack and with it the timing.
std::string next_mark() {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}{:08x}", child_mark_of(::getpid()), ++count);
}

bool passes_on(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {"PATH", "HOME", "LANG", "TMPDIR",
                                                             "LD_LIBRARY_PATH"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("LC_") ||
         name.starts_with("PYTHON");
}

void nap_one_millisecond() { ::poll(nullptr, 0, 1); }

}  // namespace

std::string to_string(const ExitState& state) {
  if (state.signal) {
    std::string words = ::strsignal(*state.signal);
    if (!words.empty())
      words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    return fmt::format("signal {} ({})", *state.signal, words);
  }
  return state.status ? fmt::format("exit status {}", *state.status) : "an unknown end";
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::vector<std::string> clean_environment(const std::map<std::string, std::string>& more) {
  std::map<std::string, std::string> all = own_environment();
  std::erase_if(all, [](const auto& variable) { return !passes_on(variable.first); });
  for (const auto& [name, value] : more) all[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : all) result.push_back(name + "=" + value);
  return result;
}

Result<Child> Child::start(const ChildSpec& spec) {
  if (spec.argv.empty()) {
    return fail(ErrorKind::kEnvironment, "cannot start a program without a name");
  }
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone is an error of write(), not our end
  std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would take the exit status from us
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // orphans of our children come to us, not to init

  Child child;
  child.mark_ = next_mark();
  std::vector<std::string> environment = clean_environment(spec.environment);
  environment.push_back(child.mark_);
  Launched launched = FIEL_TRY(launch(spec, std::move(environment)));
  child.pid_ = launched.pid;
  tell_survivor(Fate::kBegan, child.pid_);
  if (!remember(child.pid_)) {
    return fail(ErrorKind::kEnvironment, fmt::format("cannot keep more than {} child processes", kMaxChildren));
  }
  child.end_descriptor_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
  child.input_ = std::move(launched.input);
  child.output_ = std::move(launched.output);
  child.errors_ = std::move(launched.errors);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      end_descriptor_(std::move(other.end_descriptor_)),
      mark_(std::move(other.mark_)),
      state_(other.state_) {}

Child::~Child() { end(0); }

// The process stays a zombie until end() reaps it, so that its id and its group's can't be given to
// another.
bool Child::has_ended() {
  if (state_ || pid_ == 0) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;
  if (info.si_pid == 0) return false;
  state_.emplace();
  (info.si_code == CLD_EXITED ? state_->status : state_->signal) = info.si_status;
  return true;
}

bool Child::wait_for_end(double seconds) {
  const double deadline = steady_seconds() + seconds;
  while (!has_ended()) {
    const double left = deadline - steady_seconds();
    if (!(left > 0)) return false;
    if (end_descriptor_.is_open()) {
      pollfd watch{end_descriptor_.get(), POLLIN, 0};
      ::poll(&watch, 1, static_cast<int>(left * 1000) + 1);
    } else {
      nap_one_millisecond();
    }
  }
  return true;
}

ExitState Child::end(double grace_seconds) {
  if (pid_ == 0) return state_.value_or(ExitState{});
  input_.close();
  if (!has_ended() && grace_seconds > 0) {
    ::kill(-pid_, SIGTERM);
    ::kill(-pid_, SIGCONT);  // a stopped process takes no SIGTERM
    wait_for_end(grace_seconds);
  }
  ::kill(-pid_, SIGKILL);
  constexpr double kPatienceSeconds =
      2;  // a process deep in a driver may not even take SIGKILL at once
  wait_for_end(kPatienceSeconds);
  const double deadline = steady_seconds() + kPatienceSeconds;
  do {
    reap_group();
    if (!reap_orphans() && (::kill(-pid_, 0) != 0 && errno == ESRCH)) break;
    ::kill(-pid_, SIGKILL);
    nap_one_millisecond();
  } while (steady_seconds() < deadline);
  forget(pid_);
  tell_survivor(Fate::kEnded, pid_);
  pid_ = 0;
  output_.close();
  errors_.close();
  end_descriptor_.close();
  return state_.value_or(ExitState{});
}

void Child::reap_group() {
  for (;;) {
    int status = 0;
    const pid_t reaped = ::waitpid(-pid_, &status, WNOHANG);
    if (reaped < 0 && errno == EINTR) continue;
    if (reaped <= 0) return;
  }
}

// Kills what left the group and lost its parent. True: there was something, look again.
bool Child::reap_orphans() {
  bool found = false;
  const pid_t self = ::getpid();
  for (const ProcessFacts& facts : read_all_processes()) {
    if (facts.parent != self || is_child_of_ours(facts.pid)) continue;
    if (facts.state == 'Z') {
      // It may belong to another group that still lives; nobody but us can ever reap it.
      ::waitpid(facts.pid, nullptr, WNOHANG);
      continue;
    }
    // One that dies just now has no environment any more: wait for its zombie.
    const std::optional<bool> ours = environment_has(facts.pid, mark_);
    found = found || ours != false;
    if (ours == true) ::kill(facts.group == facts.pid ? -facts.pid : facts.pid, SIGKILL);
  }
  return found;
}

void kill_all_children() noexcept {
  for (auto& slot : live_groups) {
    const pid_t group = slot.load();
    if (group > 0) ::kill(-group, SIGKILL);
  }
}

Flow read_available(const Fd& from, std::string& into, std::size_t max_bytes) {
  char buffer[1 << 16];
  for (std::size_t total = 0; total < max_bytes;) {
    const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Flow::kOpen;
    if (got <= 0) return Flow::kClosed;
    into.append(buffer, static_cast<std::size_t>(got));
    total += static_cast<std::size_t>(got);
  }
  return Flow::kOpen;
}

Flow write_available(const Fd& to, std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t put = ::write(to.get(), rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Flow::kOpen;
    if (put < 0) return Flow::kClosed;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return Flow::kOpen;
}

}  // namespace fiel
