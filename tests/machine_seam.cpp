// Preloaded into fiel by tests (LD_PRELOAD): a machine that has no memory for another process, and whose clock of the day jumps.
// Nothing of it is in the product, and its workers don't inherit it.
//
//   FIEL_SEAM_START   N:ERROR   the N-th child process can't be started, nor any after it; ERROR is the errno, a number
//   FIEL_SEAM_CLOCK   SECONDS   each time that somebody asks for the time of the day it is so much later, then so much earlier
#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

long number_in(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

long started = 0, asked = 0;  // fiel is one thread

time_t jump() {
  static const long seconds = number_in("FIEL_SEAM_CLOCK");
  return ++asked % 2 == 0 ? -seconds : seconds;
}

}  // namespace

extern "C" {

// Not vfork itself, from which no function may return; what the child does between it and exec goes as well after fork.
pid_t vfork() noexcept {
  static const long first = number_in("FIEL_SEAM_START");
  if (first > 0 && ++started >= first) {
    const char* text = std::getenv("FIEL_SEAM_START");
    while (*text != ':') ++text;
    errno = std::atoi(text + 1);
    return -1;
  }
  return ::fork();
}

int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
  static const auto real = next<int (*)(clockid_t, struct timespec*)>("clock_gettime");
  const int result = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
  return result;
}

int gettimeofday(struct timeval* now, void* zone) noexcept {
  static const auto real = next<int (*)(struct timeval*, void*)>("gettimeofday");
  const int result = real(now, zone);
  now->tv_sec += jump();
  return result;
}

time_t time(time_t* place) noexcept {
  static const auto real = next<time_t (*)(time_t*)>("time");
  const time_t now = real(nullptr) + jump();
  if (place != nullptr) *place = now;
  return now;
}

}  // extern "C"
