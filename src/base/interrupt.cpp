#include "base/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/subprocess.h"

namespace fiel {
namespace {

// A handler gets no argument but the signal's number, so its descriptor must be global.
std::atomic<int> wake_descriptor{-1};
std::atomic<int> signals_seen{0};

struct Handled {
  int signal;
  struct sigaction before;
};
std::array<Handled, 3> handled{{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}};

void handle(int) {
  const int saved_errno = errno;
  if (signals_seen.fetch_add(1) > 0) {
    kill_all_children();
    ::_exit(130);
  }
  [[maybe_unused]] const ssize_t put = ::write(wake_descriptor.load(), "x", 1);
  errno = saved_errno;
}

}  // namespace

Result<Interrupt> Interrupt::install() {
  FIEL_CHECK(wake_descriptor == -1);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return std::unexpected(file_error("make", "a pipe", errno));
  Interrupt interrupt{Fd(ends[0]), Fd(ends[1])};
  wake_descriptor = ends[1];
  signals_seen = 0;
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (Handled& each : handled) {
    ::sigaction(each.signal, nullptr, &each.before);
    if (each.before.sa_handler != SIG_IGN) ::sigaction(each.signal, &action, nullptr);
  }
  return interrupt;
}

Interrupt::~Interrupt() {
  if (!write_.is_open()) return;  // moved away
  for (Handled& each : handled) ::sigaction(each.signal, &each.before, nullptr);
  wake_descriptor = -1;
}

bool Interrupt::cancelled() const { return is_cancelled(read_.get()); }

bool is_cancelled(int cancel_fd) {
  if (cancel_fd < 0) return false;
  pollfd watch{cancel_fd, POLLIN, 0};
  return ::poll(&watch, 1, 0) > 0;
}

}  // namespace fiel
