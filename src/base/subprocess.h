// How we start another program and how it ends with all that it started. Knows nothing of the
// worker protocol.
//
//   a child     a process group of its own; dies when we die; a cleaned environment; no core file;
//               no descriptor but 0, 1 and 2; confined where asked (confine.h)
//   its end     SIGTERM, grace, SIGKILL to the whole group, stopped or not; what left the group
//               comes to us as an orphan (we are its subreaper), is known by a mark in its
//               environment, and is killed too
//
// A child dies with the *thread* that started it (PR_SET_PDEATHSIG).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/confine.h"
#include "base/files.h"
#include "base/result.h"

namespace fiel {

/// How a process ended: by itself with a status, or by a signal.
struct ExitState {
  std::optional<int> status;
  std::optional<int> signal;

  bool is_success() const { return status == 0; }
};

/// "exit status 3", "signal 11 (segmentation fault)".
std::string to_string(const ExitState& state);

struct ChildSpec {
  std::vector<std::string> argv = {};                   // [0] without '/' is looked up in PATH
  std::map<std::string, std::string> environment = {};  // on top of the cleaned one
  std::filesystem::path working_folder = {};            // empty: ours
  std::filesystem::path error_log = {};  // standard error is appended there; empty: a pipe
  std::vector<int> cores = {};           // CPU affinity; empty: unchanged
  std::optional<Confinement> confinement = {};  // none: it may do what we may
};

class Child {
 public:
  /// A program that is missing or not executable, a working folder or core that is not there:
  /// kEnvironment.
  static Result<Child> start(const ChildSpec& spec);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // end(0)

  pid_t pid() const { return pid_; }  // of the process and of its group
  // Our ends of its standard descriptors; non-blocking.
  Fd& input() { return input_; }
  Fd& output() { return output_; }
  Fd& errors() { return errors_; }  // not open with an error_log

  /// Becomes readable when the process ends; -1 where the kernel has no such thing (then ask
  /// has_ended() often).
  int end_descriptor() const { return end_descriptor_.get(); }
  /// The process itself; others of its group may live on.
  bool has_ended();
  /// The same after at most `seconds`.
  bool wait_for_end(double seconds);
  /// How it ended, once has_ended().
  const std::optional<ExitState>& exit_state() const { return state_; }
  /// Ends and reaps all of the group and its orphans. Bounded: grace plus about two seconds for
  /// processes that even SIGKILL can't end at once.
  ExitState end(double grace_seconds);

 private:
  Child() = default;
  void reap_group();
  bool reap_orphans();

  pid_t pid_ = 0;  // 0: ended and reaped, or moved away
  Fd input_, output_, errors_, end_descriptor_;
  std::string mark_;  // "FIEL_CHILD=..." in its environment
  std::optional<ExitState> state_;
};

/// SIGKILL to the groups of all children; async-signal-safe, for the second Ctrl-C.
void kill_all_children() noexcept;

/// All of our own environment.
std::map<std::string, std::string> own_environment();
/// What passes on of it, plus `more`: "NAME=value", sorted.
std::vector<std::string> clean_environment(const std::map<std::string, std::string>& more);

// Non-blocking transfers for poll loops.
enum class Flow { kOpen, kClosed };
/// Appends what is there now, at most about `max_bytes`. kClosed: end of file or an error.
Flow read_available(const Fd& from, std::string& into, std::size_t max_bytes);
/// Writes what goes now and shortens `rest`. kClosed: nobody reads any more.
Flow write_available(const Fd& to, std::string_view& rest);

/// While this object lives, every run_program of this thread calls `look` some 20 times a second: for who has another process at work
/// meanwhile.
class WhileWaiting {
 public:
  explicit WhileWaiting(std::function<void()> look);
  WhileWaiting(const WhileWaiting&) = delete;
  WhileWaiting& operator=(const WhileWaiting&) = delete;
  ~WhileWaiting();

 private:
  std::function<void()> look_;
  WhileWaiting* outer_;  // they are nested
  friend bool look_around();  // false: there is nobody who wants to
};

struct ProgramOptions {
  std::string_view input = {};
  double timeout_seconds = 60;
  std::int64_t max_output_bytes = std::int64_t{64} << 20;
  std::filesystem::path working_folder = {};
  std::map<std::string, std::string> environment = {};
  int cancel_fd = -1;  // readable: stop
  std::optional<Confinement> confinement = {};
};

struct ProgramResult {
  ExitState exit;
  std::string output;
  std::string errors_tail;  // the last 4 KiB of its standard error
  double seconds = 0;
};

/// Runs a program to its end. A status that is not 0 is a ProgramResult; an Error is kEnvironment
/// (could not start), kTimeout, kCancelled, or kProtocol (more output than allowed).
Result<ProgramResult> run_program(const std::vector<std::string>& argv,
                                  const ProgramOptions& options);

}  // namespace fiel
