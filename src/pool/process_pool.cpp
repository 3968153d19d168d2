// Workers as real processes: one poll loop a call, which feeds the request, reads the answer, and
// watches the clock, the process, its memory, its log and the cancellation descriptor. Whatever the
// worker does costs at most the deadline.
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/printable.h"
#include "base/subprocess.h"
#include "pool/disk_watch.h"
#include "pool/group_watch.h"
#include "pool/worker.h"
#include "protocol/channel.h"

namespace fiel {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;  // a turn of the loop
constexpr int kMaxProgressLines = 10'000;
constexpr std::int64_t kMaxLogBytes =
    std::int64_t{64} << 20;  // a worker that prints without end must not fill the disk
constexpr std::int64_t kKeptLogBytes = std::int64_t{1} << 20;  // what stays of such a log
constexpr std::int64_t kTailBytes = 4096;
constexpr int kTailLines = 20;
constexpr std::size_t kMessageBytes = 2000;  // of the engine's own words
constexpr double kTickSeconds = 0.05;
constexpr double kGraceSeconds = 0.5;  // between SIGTERM and SIGKILL
constexpr double kExitSeconds =
    1.0;  // for a worker that said bye, or closed its output, to end by itself

class ProcessWorker : public Worker {
 public:
  ProcessWorker(Child child, const WorkerSpec& spec, DiskWatch disk, std::int64_t log_start, int cancel_fd)
      : child_(std::move(child)),
        spec_(spec),
        disk_(std::move(disk)),
        log_start_(log_start),
        cancel_fd_(cancel_fd),
        watch_(child_.pid()),
        kills_before_(kernel_memory_kills()) {}

  ~ProcessWorker() override {
    end(is_cancelled(cancel_fd_) ? 0 : kGraceSeconds);
    (void)remove_tree(spec_.scratch);
  }

  Answer call(Json request, double deadline_seconds) override;
  void begin(Json request, double deadline_seconds) override;
  Answer finish() override;
  bool wait(double seconds) override;
  bool busy() const override { return busy_; }
  void look() override;
  void pause() override;
  void resume() override;
  WorkerUsage usage() override { return alive_ ? watch_.usage() : last_usage_; }
  const std::filesystem::path& scratch() const override { return spec_.scratch; }
  bool alive() const override { return alive_; }

 private:
  std::optional<Failure> refuse_unsolicited();
  std::optional<Answer> turn();
  void feed();
  void wait_for_events(double left_seconds);
  std::optional<Failure> over_limits();
  std::optional<Answer> take_lines(std::string_view bytes, bool request_is_read);
  std::optional<Answer> take_line(std::string_view line, bool request_is_read);
  Answer take_result(Json message, bool request_is_read);
  Failure take_error(const Json& message);
  Failure crash();

  Failure failure(FailureKind kind, std::string message) const;
  /// The same, and ends the worker first.
  Failure condemn(FailureKind kind, std::string message, double grace_seconds = 0);
  void end(double grace_seconds);
  std::int64_t log_bytes() const;
  std::string log_tail() const;

  Child child_;
  WorkerSpec spec_;
  DiskWatch disk_;
  std::int64_t log_start_;  // the log may hold earlier workers' words
  int cancel_fd_;
  GroupWatch watch_;
  std::int64_t kills_before_;
  WorkerUsage last_usage_;
  bool alive_ = true;
  bool paused_ = false;

  // The request under way.
  bool busy_ = false;
  std::int64_t id_ = 0;
  std::string request_;
  std::string_view rest_;                // of it, not yet written
  double deadline_ = 0;                  // in steady_seconds()
  std::optional<Failure> found_ = {};    // what went wrong before it was finished
  std::optional<Answer> answer_ = {};    // that has come before it was
  std::string phase_;
  LineSplitter lines_;
  int progress_lines_ = 0;
};

Answer ProcessWorker::call(Json request, double deadline_seconds) {
  begin(std::move(request), deadline_seconds);
  return finish();
}

void ProcessWorker::begin(Json request, double deadline_seconds) {
  if (busy_) (void)finish();
  FIEL_CHECK(request.is_object() && request.contains("type") && request["type"].is_string());
  phase_ = request["type"].get<std::string>();
  busy_ = true;
  found_.reset();
  answer_.reset();
  if (!alive_) found_ = failure(FailureKind::kCrash, "the worker has ended before");
  if (paused_) resume();
  if (!found_) found_ = refuse_unsolicited();
  if (found_) return;
  request["id"] = ++id_;
  progress_lines_ = 0;
  request_ = dump_json(request) + "\n";
  FIEL_CHECK(request_.size() <= kMaxLineBytes);  // callers cut large choices of samples into chunks
  rest_ = request_;
  deadline_ = steady_seconds() + deadline_seconds;
  feed();
}

void ProcessWorker::look() {
  if (!busy_ || found_ || !alive_) return;
  feed();
  found_ = over_limits();
}

bool ProcessWorker::wait(double seconds) {
  const double until = steady_seconds() + seconds;
  while (busy_ && !found_ && !answer_) {
    if (steady_seconds() >= until) return false;
    answer_ = turn();
  }
  return true;
}

Answer ProcessWorker::finish() {
  FIEL_CHECK(busy_);
  if (found_) {
    busy_ = false;
    return *std::move(found_);
  }
  while (!answer_) answer_ = turn();
  busy_ = false;
  Answer answer = *std::exchange(answer_, std::nullopt);
  if (phase_ == "bye" && alive_) {
    child_.wait_for_end(kExitSeconds);
    end(0);
  }
  return answer;
}

// Output without a request is not in the protocol. Its end, on the other hand, shows in the request
// that now follows.
std::optional<Failure> ProcessWorker::refuse_unsolicited() {
  std::string bytes;
  read_available(child_.output(), bytes, kReadBytes);
  if (bytes.empty()) return std::nullopt;
  return condemn(FailureKind::kProtocol,
                 fmt::format("it wrote without being asked: {}", excerpt(bytes, 200)));
}

void ProcessWorker::feed() {
  if (rest_.empty() || write_available(child_.input(), rest_) != Flow::kClosed) return;
  child_.input().close();  // it reads no more; what it says or how it ends comes by the other ways
  rest_ = {};
}

std::optional<Answer> ProcessWorker::turn() {
  feed();
  const double left = deadline_ - steady_seconds();
  wait_for_events(std::max(0.0, left));
  if (is_cancelled(cancel_fd_)) return condemn(FailureKind::kCancelled, "interrupted");
  if (auto over = over_limits()) return *std::move(over);
  // Asked before reading: what it wrote before its end is then in the pipe. A grandchild may hold
  // the pipe open for ever, so the end of the process counts, not only the end of its output.
  const bool ended = child_.has_ended();
  std::string bytes;
  const bool closed = read_available(child_.output(), bytes, kReadBytes) == Flow::kClosed;
  if (auto answer = take_lines(bytes, rest_.empty())) return answer;
  if (ended || closed) return crash();
  if (!(left > 0)) return condemn(FailureKind::kTimeout, "no answer within the deadline", kGraceSeconds);
  return std::nullopt;
}

void ProcessWorker::wait_for_events(double left_seconds) {
  std::array<pollfd, 4> watched{{{child_.output().get(), POLLIN, 0},
                                 {rest_.empty() ? -1 : child_.input().get(), POLLOUT, 0},
                                 {child_.end_descriptor(), POLLIN, 0},
                                 {cancel_fd_, POLLIN, 0}}};
  ::poll(watched.data(), watched.size(),
         static_cast<int>(std::ceil(std::min(left_seconds, kTickSeconds) * 1000)));
}

std::optional<Failure> ProcessWorker::over_limits() {
  watch_.look(steady_seconds());
  if (spec_.memory_limit_bytes && watch_.resident_bytes() > *spec_.memory_limit_bytes) {
    return condemn(FailureKind::kOutOfMemory,
                   fmt::format("it used {} bytes of memory, above the limit of {}",
                               watch_.resident_bytes(), *spec_.memory_limit_bytes));
  }
  if (watch_.processes() > kMaxProcesses) {
    return condemn(FailureKind::kProtocol, fmt::format("it started more than {} processes", kMaxProcesses));
  }
  if (const std::string filled = disk_.look(); !filled.empty()) {
    Failure full = condemn(FailureKind::kProtocol, filled);
    disk_.clear();
    return full;
  }
  if (log_bytes() <= kMaxLogBytes) return std::nullopt;
  Failure flood = condemn(FailureKind::kProtocol,
                          fmt::format("it wrote more than {} bytes to its log", kMaxLogBytes));
  (void)!::truncate(spec_.log.c_str(), log_start_ + kKeptLogBytes);
  return flood;
}

std::optional<Answer> ProcessWorker::take_lines(std::string_view bytes, bool request_is_read) {
  if (const auto fed = lines_.feed(bytes); !fed)
    return condemn(FailureKind::kProtocol, "it wrote: " + fed.error().message);
  while (const auto line = lines_.next()) {
    if (auto answer = take_line(*line, request_is_read)) return answer;
  }
  return std::nullopt;
}

std::optional<Answer> ProcessWorker::take_line(std::string_view line, bool request_is_read) {
  auto parsed = parse_json(line);
  if (!parsed) {
    return condemn(FailureKind::kProtocol,
                   fmt::format("{}: {}", excerpt(parsed.error().message, 200), excerpt(line, 200)));
  }
  const auto id = get_int(*parsed, "id");
  const auto type = get_string(*parsed, "type");
  if (!id || !type) {
    const Error& error = !id ? id.error() : type.error();
    return condemn(FailureKind::kProtocol,
                   fmt::format("a message where {}: {}", error.message, excerpt(line, 200)));
  }
  if (*id != id_) {
    return condemn(FailureKind::kProtocol,
                   fmt::format("it answered request {} when asked request {}", *id, id_));
  }
  if (*type == "progress") {
    if (++progress_lines_ <= kMaxProgressLines) return std::nullopt;
    return condemn(FailureKind::kProtocol,
                   fmt::format("more than {} progress messages", kMaxProgressLines));
  }
  if (*type == "result") return take_result(*std::move(parsed), request_is_read);
  if (*type == "error") return take_error(*parsed);
  return condemn(FailureKind::kProtocol,
                 fmt::format("a message of unknown type \"{}\"", excerpt(*type, 100)));
}

Answer ProcessWorker::take_result(Json message, bool request_is_read) {
  if (!request_is_read)
    return condemn(FailureKind::kProtocol, "it answered before it had read the request");
  const auto more = lines_.next();
  if (more || lines_.unfinished_bytes() > 0) {
    return condemn(FailureKind::kProtocol, fmt::format("it wrote on after its answer: {}",
                                                       excerpt(more.value_or("..."), 200)));
  }
  // A short peak between two looks still counts.
  if (spec_.memory_limit_bytes && watch_.peak_bytes() > *spec_.memory_limit_bytes) {
    return condemn(FailureKind::kOutOfMemory,
                   fmt::format("it had used {} bytes of memory, above the limit of {}",
                               watch_.peak_bytes(), *spec_.memory_limit_bytes));
  }
  return message;
}

// The protocol's reasons, of which two are ours to place: `bad_request` says that we and the worker
// understand the protocol differently, `internal` that the engine broke: while building that is a
// build error, while running it is a crash.
Failure ProcessWorker::take_error(const Json& message) {
  const std::string reason = get_string(message, "reason").value_or("");
  const std::string words = excerpt(get_string(message, "message").value_or(""), kMessageBytes);
  if (reason == "unsupported") return failure(FailureKind::kUnsupported, words);
  if (reason == "build_error") return failure(FailureKind::kBuildError, words);
  if (reason == "out_of_memory") return condemn(FailureKind::kOutOfMemory, words);
  if (reason == "bad_request")
    return condemn(FailureKind::kProtocol, "it calls the request bad: " + words);
  if (reason == "internal") {
    if (phase_ == "build" || phase_ == "load") return failure(FailureKind::kBuildError, words);
    return condemn(FailureKind::kCrash, words);
  }
  return condemn(FailureKind::kProtocol,
                 fmt::format("an error for an unknown reason \"{}\"", excerpt(reason, 100)));
}

Failure ProcessWorker::crash() {
  const bool by_itself = child_.wait_for_end(kExitSeconds);
  const ExitState state = child_.exit_state().value_or(ExitState{});
  if (!by_itself) return condemn(FailureKind::kCrash, "it closed its output and did not end");
  std::string message = fmt::format("it ended with {}", to_string(state));
  if (lines_.unfinished_bytes() > 0) message += ", in the middle of a line";
  FailureKind kind = FailureKind::kCrash;
  if (state.signal == SIGKILL && kernel_memory_kills() > kills_before_) {
    kind = FailureKind::kOutOfMemory;
    message = "the kernel killed it for lack of memory";
  }
  Failure result = condemn(kind, std::move(message));
  result.exit_status = state.status;
  result.signal = state.signal;
  return result;
}

Failure ProcessWorker::failure(FailureKind kind, std::string message) const {
  return {.kind = kind,
          .message = std::move(message),
          .phase = phase_,
          .log_tail = log_tail(),
          .exit_status = {},
          .signal = {}};
}

Failure ProcessWorker::condemn(FailureKind kind, std::string message, double grace_seconds) {
  end(grace_seconds);
  return failure(kind, std::move(message));
}

void ProcessWorker::end(double grace_seconds) {
  if (!alive_) return;
  alive_ = false;
  last_usage_ = watch_.usage();
  child_.end(std::max(grace_seconds, spec_.least_grace_seconds));
}

void ProcessWorker::pause() {
  if (!alive_) return;
  paused_ = true;
  stop_group(child_.pid());
}

void ProcessWorker::resume() {
  paused_ = false;
  if (alive_) ::kill(-child_.pid(), SIGCONT);
}

std::int64_t ProcessWorker::log_bytes() const {
  struct stat facts{};
  return ::stat(spec_.log.c_str(), &facts) == 0 ? facts.st_size - log_start_ : 0;
}

std::string ProcessWorker::log_tail() const {
  return last_lines(printable(read_tail(spec_.log, log_start_, kTailBytes).value_or("")),
                    kTailLines);
}

class ProcessPool : public WorkerPool {
 public:
  explicit ProcessPool(int cancel_fd) : cancel_fd_(cancel_fd) {}

  std::variant<std::unique_ptr<Worker>, Failure> start(const WorkerSpec& spec) override {
    auto worker = try_start(spec);
    if (worker) return *std::move(worker);
    const Error& error = worker.error();
    return Failure{
        .kind = FailureKind::kEnvironment,
        .message = error.hint.empty() ? error.message : error.message + "; " + error.hint,
        .phase = "start",
        .log_tail = {},
        .exit_status = {},
        .signal = {}};
  }

 private:
  Result<std::unique_ptr<Worker>> try_start(const WorkerSpec& spec) {
    FIEL_TRY(remove_tree(spec.scratch));  // left behind by a run that was killed
    FIEL_TRY(ensure_folder(spec.scratch));
    struct stat facts{};
    const std::int64_t log_start = ::stat(spec.log.c_str(), &facts) == 0 ? facts.st_size : 0;
    DiskWatch disk(spec);
    ChildSpec child_spec{.argv = spec.argv,
                         .environment = spec.environment,
                         .working_folder = spec.scratch,
                         .error_log = spec.log,
                         .cores = spec.cores,
                         .confinement = spec.confinement};
    if (child_spec.confinement) {
      child_spec.confinement->writable.push_back(spec.scratch);
      // Temporary files go where it may write. Not by its path, whose length would move the stack and with it the timing.
      child_spec.environment.emplace("TMPDIR", ".");
    }
    auto child = Child::start(child_spec);
    if (!child) {
      (void)remove_tree(spec.scratch);
      return std::unexpected(std::move(child).error());
    }
    WorkerSpec bounded = spec;
    if (!bounded.memory_limit_bytes) bounded.memory_limit_bytes = memory_of_nearly_all();
    return std::make_unique<ProcessWorker>(*std::move(child), bounded, std::move(disk), log_start, cancel_fd_);
  }

  int cancel_fd_;
};

}  // namespace

std::unique_ptr<WorkerPool> make_process_pool(int cancel_fd) {
  return std::make_unique<ProcessPool>(cancel_fd);
}

}  // namespace fiel
