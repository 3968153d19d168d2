// How people write sizes and times ("400 MiB", "8 ms", "2 min"), and how we show them. Knows no
// keys: the caller says where the text stood.
//
//   sizes   B, KB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024)
//   times   ns, us or µs, ms, s, m or min, h; several may follow each other ("1 h 30 min")
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {

/// Both refuse a number without a unit, negative ones and what is too large to mean anything (2^60
/// bytes, 100 years).
Result<std::int64_t> parse_bytes(std::string_view text);
Result<double> parse_duration(std::string_view text);  // seconds

std::string format_bytes(std::int64_t bytes);  // "812 B", "1.5 MiB", "52 MiB"
std::string format_duration(
    double seconds);  // "1.83 ms", "12.3 s", "2 min 5 s"; "?" where it is not finite

}  // namespace fiel
