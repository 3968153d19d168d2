// run_program of subprocess.h: one poll loop that feeds, listens, and watches the clock.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clock.h"
#include "base/subprocess.h"

namespace fiel {
namespace {

constexpr std::size_t kTailBytes = 4096;
constexpr std::size_t kReadBytes = 1 << 20;  // a turn; then the other descriptors get theirs
constexpr double kGraceSeconds = 0.5;
constexpr double kTickSeconds =
    0.02;  // how often we ask for the end where the kernel can't tell us
constexpr double kLookSeconds = 0.05;
thread_local WhileWaiting* innermost = nullptr;

void read_errors(Child& child, std::string& tail) {
  if (read_available(child.errors(), tail, kReadBytes) == Flow::kClosed) child.errors().close();
  if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
}

// Waits until something can be done. True: cancelled.
bool wait_for_events(Child& child, int cancel_fd, bool has_input, double seconds) {
  if (child.end_descriptor() < 0) seconds = std::min(seconds, kTickSeconds);
  std::array<pollfd, 5> watched{{{child.output().get(), POLLIN, 0},
                                 {child.errors().get(), POLLIN, 0},
                                 {has_input ? child.input().get() : -1, POLLOUT, 0},
                                 {child.end_descriptor(), POLLIN, 0},
                                 {cancel_fd, POLLIN, 0}}};
  const int milliseconds = static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000));
  ::poll(watched.data(), watched.size(), milliseconds);
  return watched[4].revents != 0;
}

}  // namespace

WhileWaiting::WhileWaiting(std::function<void()> look) : look_(std::move(look)), outer_(innermost) { innermost = this; }

WhileWaiting::~WhileWaiting() { innermost = outer_; }

bool look_around() {
  for (const WhileWaiting* one = innermost; one != nullptr; one = one->outer_) one->look_();
  return innermost != nullptr;
}

Result<ProgramResult> run_program(const std::vector<std::string>& argv,
                                  const ProgramOptions& options) {
  Child child = FIEL_TRY(Child::start({.argv = argv,
                                       .environment = options.environment,
                                       .working_folder = options.working_folder,
                                       .confinement = options.confinement}));
  const double start = steady_seconds();
  ProgramResult result;
  std::string_view rest = options.input;
  for (bool ended = false; !ended;) {
    if (rest.empty() || write_available(child.input(), rest) == Flow::kClosed) {
      rest = {};
      child.input().close();
    }
    const double left = start + options.timeout_seconds - steady_seconds();
    if (!(left > 0)) {
      child.end(kGraceSeconds);
      return fail(ErrorKind::kTimeout,
                  fmt::format("{} did not end within {} s", argv[0], options.timeout_seconds));
    }
    const double turn = look_around() ? std::min(left, kLookSeconds) : left;
    if (wait_for_events(child, options.cancel_fd, !rest.empty(), turn)) {
      return fail(ErrorKind::kCancelled, fmt::format("{} was stopped", argv[0]));
    }
    // Asked before reading: what it wrote before its end is then in the pipe. Not the end of its
    // output ends the loop, but its own, since a grandchild may hold the pipe for ever.
    ended = child.has_ended();
    if (child.output().is_open() &&
        read_available(child.output(), result.output, kReadBytes) == Flow::kClosed) {
      child.output().close();
    }
    if (child.errors().is_open()) read_errors(child, result.errors_tail);
    if (std::ssize(result.output) > options.max_output_bytes) {
      return fail(ErrorKind::kProtocol,
                  fmt::format("{} wrote more than {} bytes", argv[0], options.max_output_bytes));
    }
  }
  result.seconds = steady_seconds() - start;
  result.exit = child.end(0);
  return result;
}

}  // namespace fiel
