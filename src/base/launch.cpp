#include "base/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace fiel {
namespace {

namespace fs = std::filesystem;

// The file to execute, absolute, since the child changes its folder first.
Result<fs::path> find_program(const std::string& name,
                              const std::vector<std::string>& environment) {
  if (name.empty()) return fail(ErrorKind::kEnvironment, "cannot start a program without a name");
  std::error_code error;
  if (name.find('/') != std::string::npos) return fs::absolute(name, error);
  std::string folders = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& assignment : environment) {
    if (assignment.starts_with("PATH=")) folders = assignment.substr(5);
  }
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const fs::path file = fs::absolute(fs::path(folders.substr(start, end - start)) / name, error);
    if (fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0) return file;
    start = end + 1;
  }
  return fail(ErrorKind::kEnvironment, fmt::format("cannot start {}: not found in PATH", name),
              "install it, or give its full path");
}

// All that the child needs between fork and exec, made before: there it may call only what a signal
// handler may.
struct Launch {
  std::string file, folder;
  std::vector<char*> argv, envp;
  cpu_set_t cores{};
  std::array<int, 3> descriptors{};  // all above 2
  const Fence* fence = nullptr;      // none: it may do what we may
  int report = -1;                   // close-on-exec: end of file says that exec worked
  pid_t parent = 0;
};

enum class Stage : int { kFolder, kCores, kFence, kExec };
struct LaunchFailure {
  Stage stage;
  int error_number;
};

[[noreturn]] void give_up(const Launch& launch, Stage stage) {
  const LaunchFailure failure{stage, errno};
  [[maybe_unused]] const ssize_t put = ::write(launch.report, &failure, sizeof failure);
  ::_exit(127);
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);  // the parent died before the line above
  reset_signals();
  step_behind_who_started_us();
  for (int i = 0; i < 3; ++i) ::dup2(launch.descriptors[static_cast<std::size_t>(i)], i);
  // Also descriptors that whoever started us left open. Older kernels lack the call; ours are all
  // close-on-exec anyway.
  ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  if (!launch.folder.empty() && ::chdir(launch.folder.c_str()) != 0)
    give_up(launch, Stage::kFolder);
  if (CPU_COUNT(&launch.cores) > 0 &&
      ::sched_setaffinity(0, sizeof launch.cores, &launch.cores) != 0) {
    give_up(launch, Stage::kCores);
  }
  if (launch.fence != nullptr && !launch.fence->enter()) give_up(launch, Stage::kFence);
  ::execve(launch.file.c_str(), launch.argv.data(), launch.envp.data());
  give_up(launch, Stage::kExec);
}

struct Pipe {
  Fd read, write;
};

// Both ends close-on-exec and above 2, so that dup2 onto 0, 1 and 2 never meets itself.
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(file_error("make", "a pipe", errno));
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  for (Fd* end : {&pipe.read, &pipe.write}) {
    if (end->get() > 2) continue;
    *end = Fd(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!end->is_open()) return std::unexpected(file_error("make", "a pipe", errno));
  }
  return pipe;
}

void make_non_blocking(const Fd& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

Result<Fd> open_log(const fs::path& path) {
  Fd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.is_open()) return std::unexpected(file_error("open", path, errno));
  if (log.get() <= 2) log = Fd(::fcntl(log.get(), F_DUPFD_CLOEXEC, 3));
  return log;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Error launch_error(const LaunchFailure& failure, const ChildSpec& spec) {
  switch (failure.stage) {
    case Stage::kFolder:
      return file_error("enter", spec.working_folder, failure.error_number);
    case Stage::kCores:
      return Error{ErrorKind::kEnvironment,
                   fmt::format("cannot run {} on the cores asked for: {}", spec.argv[0],
                               errno_words(failure.error_number)),
                   "name cores that this machine has and that we may use ([target] cores)"};
    case Stage::kFence:
      return Error{ErrorKind::kEnvironment,
                   fmt::format("cannot confine {}: {}", spec.argv[0], errno_words(failure.error_number)),
                   "`[engines.NAME] confine = false` runs it without"};
    case Stage::kExec:
      break;
  }
  return file_error("start", spec.argv[0], failure.error_number);
}

// Blocks until exec has closed the other end or the child has said what failed.
std::optional<LaunchFailure> read_failure(const Fd& report) {
  LaunchFailure failure{};
  ssize_t got = 0;
  do {
    got = ::read(report.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

}  // namespace

void step_behind_who_started_us() {
  // One byte: no file is so short, and the kernel also takes it as a no where cores go to a program, whatever the limit.
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // When memory runs out, the kernel should take this process and not the coordinator. Left open: it closes with what we become.
  const int badness = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (badness >= 0) [[maybe_unused]]
    const ssize_t put = ::write(badness, "500", 3);
}

Result<Launched> launch(const ChildSpec& spec, std::vector<std::string> environment) {
  std::vector<std::string> argv = spec.argv;
  Launch launch;
  launch.file = FIEL_TRY(find_program(argv[0], environment)).string();
  launch.folder = spec.working_folder.string();
  launch.argv = pointers(argv);
  launch.envp = pointers(environment);
  launch.parent = ::getpid();
  CPU_ZERO(&launch.cores);
  for (const int core : spec.cores) {
    if (core < 0 || core >= CPU_SETSIZE) {
      return std::unexpected(launch_error({Stage::kCores, EINVAL}, spec));
    }
    CPU_SET(static_cast<std::size_t>(core), &launch.cores);
  }

  Pipe input = FIEL_TRY(make_pipe());
  Pipe output = FIEL_TRY(make_pipe());
  Pipe report = FIEL_TRY(make_pipe());
  Pipe errors;
  if (spec.error_log.empty()) {
    errors = FIEL_TRY(make_pipe());
  } else {
    errors.write = FIEL_TRY(open_log(spec.error_log));
  }
  launch.descriptors = {input.read.get(), output.write.get(), errors.write.get()};
  launch.report = report.write.get();
  std::optional<Fence> fence;
  if (spec.confinement) {
    fence = FIEL_TRY(Fence::create(*spec.confinement));
    launch.fence = &*fence;
  }

  // vfork: the child borrows our memory until it has become the program, so that nothing is copied, and none of our pages
  // has to be taken back by a page fault afterwards. No handler of ours may run in it: signals wait until it has reset them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) become_program(launch);
  const int start_error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return std::unexpected(file_error("start", spec.argv[0], start_error));
  ::setpgid(pid, pid);  // in both processes, so that it is true whichever goes first

  report.write.close();
  if (const auto failure = read_failure(report.read)) {
    ::waitpid(pid, nullptr, 0);
    return std::unexpected(launch_error(*failure, spec));
  }
  Launched launched{pid, std::move(input.write), std::move(output.read), std::move(errors.read)};
  make_non_blocking(launched.input);
  make_non_blocking(launched.output);
  if (launched.errors.is_open()) make_non_blocking(launched.errors);
  return launched;
}

}  // namespace fiel
