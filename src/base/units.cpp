#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace fiel {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024.0;
constexpr std::array kByteUnits{
    Unit{"B", 1.0},
    Unit{"KB", 1e3},
    Unit{"kB", 1e3},
    Unit{"MB", 1e6},
    Unit{"GB", 1e9},
    Unit{"TB", 1e12},
    Unit{"KiB", kKibi},
    Unit{"MiB", kKibi* kKibi},
    Unit{"GiB", kKibi* kKibi* kKibi},
    Unit{"TiB", kKibi* kKibi* kKibi* kKibi},
};
constexpr std::array kTimeUnits{
    Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"µs", 1e-6}, Unit{"μs", 1e-6},  // both of Unicode's mu
    Unit{"ms", 1e-3}, Unit{"s", 1.0},   Unit{"m", 60.0},  Unit{"min", 60.0}, Unit{"h", 3600.0},
};
constexpr double kMaxBytes = 0x1p60;
constexpr double kMaxSeconds = 100.0 * 365 * 24 * 3600;

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// One number and its unit off the front of `text`.
Result<double> take_quantity(std::string_view& text, std::span<const Unit> units,
                             std::string_view example) {
  const auto wrong = [example](std::string_view what) {
    return fail(ErrorKind::kUsage, std::string(what), fmt::format("write it like \"{}\"", example));
  };
  double number = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return wrong("it has no number");
  if (!(std::isfinite(number) && number >= 0.0) || text.starts_with('-'))
    return wrong("it is no finite positive number");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skip_blanks(text);
  const std::string_view name = text.substr(0, text.find_first_of(" \t0123456789"));
  if (name.empty()) return wrong("it has no unit");
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return wrong(fmt::format("it has the unknown unit '{}'", name));
  text.remove_prefix(name.size());
  skip_blanks(text);
  return number * unit->factor;
}

/// Three significant digits, as measurements deserve.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

Result<std::int64_t> parse_bytes(std::string_view text) {
  skip_blanks(text);
  const double bytes = FIEL_TRY(take_quantity(text, kByteUnits, "400 MiB"));
  if (!text.empty())
    return fail(ErrorKind::kUsage, fmt::format("'{}' follows it", text),
                "write it like \"400 MiB\"");
  if (!(bytes <= kMaxBytes)) return fail(ErrorKind::kUsage, "it is too large", "at most 1 EiB");
  return std::llround(bytes);
}

Result<double> parse_duration(std::string_view text) {
  skip_blanks(text);
  double seconds = 0.0;
  do {
    seconds += FIEL_TRY(take_quantity(text, kTimeUnits, "8 ms"));
  } while (!text.empty());
  if (!(seconds <= kMaxSeconds))
    return fail(ErrorKind::kUsage, "it is too long", "at most 100 years");
  return seconds;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const double exact = static_cast<double>(bytes);
  if (std::abs(exact) < kKibi) return fmt::format("{} B", bytes);
  double value = exact / kKibi;
  std::size_t i = 0;
  // 1023.6 MiB would be shown as "1024 MiB".
  while (std::abs(value) >= 1023.5 && i + 1 < kNames.size()) {
    value /= kKibi;
    ++i;
  }
  return fmt::format("{:.{}f} {}", value, std::abs(value) < 9.95 ? 1 : 0, kNames[i]);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const std::int64_t whole = std::llround(std::min(seconds, 1e15));
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  if (hours > 0)
    return minutes == 0 ? fmt::format("{} h", hours) : fmt::format("{} h {} min", hours, minutes);
  if (whole % 60 == 0) return fmt::format("{} min", minutes);
  return fmt::format("{} min {} s", minutes, whole % 60);
}

}  // namespace fiel
