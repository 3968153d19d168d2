// One live worker seen from the coordinator: requests with deadlines, and a closed answer to "what happened".
// The deciding code knows only these two classes; a simulated pool stands behind them in the proofs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/confine.h"
#include "base/json.h"
#include "base/result.h"
#include "pool/machine.h"

namespace fiel {

/// Why a worker could not do what was asked. `unsupported` ... `internal` are its own words, the rest is what we saw.
enum class FailureKind {
  kUnsupported,
  kBuildError,
  kOutOfMemory,   // said by the worker, or killed by the kernel or by our memory cap
  kCrash,         // ended by a signal, or with a status, in the middle of a request
  kTimeout,       // deadline passed; its group was ended
  kProtocol,      // said something that is not in the protocol (lied, flooded, garbage)
  kEnvironment,   // could not even be started
  kCancelled,     // the user pressed Ctrl-C
};

std::string_view to_string(FailureKind kind);

struct Failure {
  FailureKind kind;
  std::string message;      // what happened, in words
  std::string phase;        // "hello", "build", "load", "infer", "measure"
  std::string log_tail;     // last lines of its standard error
  std::optional<int> exit_status;
  std::optional<int> signal;
};

/// The result object of the protocol, or what went wrong.
using Answer = std::variant<Json, Failure>;

struct WorkerSpec {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // set on top of a cleaned environment
  std::filesystem::path scratch;                   // its working directory; made (what lies there goes), owned and removed by the worker object
  std::filesystem::path log;                       // standard error, appended
  std::optional<std::int64_t> memory_limit_bytes;  // resident memory of the group, watched; above it the group is killed
  std::vector<int> cores;                          // CPU affinity; empty: unchanged
  std::optional<Confinement> confinement = Confinement{};  // beside its scratch folder; none: it may do what we may
  double least_grace_seconds = 0;                  // SIGTERM comes so long before SIGKILL, for who has something to clear away
};

/// What the machine of the workers did so far, and the part of it that is the coordinator's, or of whoever stands for it there.
struct MachineTimes {
  std::optional<MachineSample> machine = {};
  double own_cpu_seconds = 0;
  std::optional<double> now_seconds = {};  // by that machine's clock, where it is not ours
};

struct WorkerUsage {
  double cpu_seconds = 0;             // user + system of the whole group so far
  std::int64_t peak_memory_bytes = 0; // VmHWM of the worker process
};

class Worker {
 public:
  virtual ~Worker() = default;  // ends the group, reaps it, removes its scratch folder

  /// Sends `request` (an object with "type"; the id is added) and waits at most `deadline_seconds` for its result.
  /// After a Failure of kind kCrash, kTimeout, kProtocol, kOutOfMemory or kCancelled the worker is dead.
  virtual Answer call(Json request, double deadline_seconds) = 0;

  /// The two halves of call(), for who has something else to do meanwhile. The deadline counts from begin(), and an answer that
  /// has come by finish() is in time. The next request first waits for the one before, and drops its answer.
  virtual void begin(Json request, double deadline_seconds) = 0;
  virtual Answer finish() = 0;
  /// After at most `seconds`: would finish() return at once?
  virtual bool wait(double seconds) = 0;
  /// Is a request begun and not finished?
  virtual bool busy() const = 0;
  /// Holds the worker to its limits while nobody waits for it; what is wrong comes out at finish().
  virtual void look() = 0;

  virtual void pause() = 0;   // SIGSTOP to the group, returns when it is stopped
  virtual void resume() = 0;  // SIGCONT
  virtual WorkerUsage usage() = 0;
  virtual const std::filesystem::path& scratch() const = 0;
  virtual bool alive() const = 0;
};

class WorkerPool {
 public:
  virtual ~WorkerPool() = default;
  /// Starts a process; a program that is missing or not executable is a Failure of kind kEnvironment.
  virtual std::variant<std::unique_ptr<Worker>, Failure> start(const WorkerSpec& spec) = 0;
  virtual MachineTimes machine_times();
};

/// Real processes: posix_spawn-like start in a group of its own that dies with us, one poll loop, Ctrl-C by a
/// cancellation descriptor (readable = cancelled; -1 = none).
std::unique_ptr<WorkerPool> make_process_pool(int cancel_fd);

}  // namespace fiel
