#include "base/clock.h"

#include <array>
#include <chrono>
#include <ctime>

namespace fiel {
namespace {

std::string format_utc(std::time_t seconds) {
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

constexpr std::time_t kFakeStart = 1735689600;  // 2025-01-01T00:00:00Z

}  // namespace

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double RealClock::now_seconds() { return steady_seconds(); }

std::string RealClock::utc_now() { return format_utc(std::time(nullptr)); }

std::string FakeClock::utc_now() {
  return format_utc(kFakeStart + static_cast<std::time_t>(seconds_));
}

}  // namespace fiel
