// What did somebody measure, once and for all configurations of a space? Read from files of three kinds, so that a strategy
// can be tried without an engine.
//
//   *.json, *.json.gz   T4, the format of the autotuning community (times in ms unless its metadata say seconds)
//   *.csv               one column a knob, the last one the cost (smaller is better); every row counts one second
//   *.jsonl             fiel's own recordings: engine, variant, shape, options, rounds, accuracy
//
// Knows no strategy. What failed is a record like the others: it cost time and has no value.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/strategy.h"

namespace fiel {

struct Recorded {
  Trial::Outcome outcome = Trial::Outcome::kFailed;
  std::optional<double> value;   // what is to be small; also of what was rejected, where it was timed
  double fixed_seconds = 0;      // to compile, verify and prepare
  double timing_seconds = 0;     // to time as often as was recorded
  std::vector<double> timings;   // single values, in the recorded order; may be empty

  double seconds() const { return fixed_seconds + timing_seconds; }
  /// A value that a search may end with.
  std::optional<double> found() const { return outcome == Trial::Outcome::kAdmissibleSoFar ? value : std::nullopt; }
};

struct Recording {
  std::string name;  // the file's, without its extensions
  Space space;       // lists the recorded routes, so that no other is asked for
  /// What runs without any tuning, where the file says so.
  std::optional<BuildRoute> default_route;
  std::map<BuildRoute, Recorded> records;
  std::int64_t repeated = 0;  // records of a configuration that was there before: left out
};

/// kUsage where the file is of no such kind or holds what is not understood, with the line or the key.
Result<Recording> read_recording(const std::filesystem::path& path);

// For the readers of the three formats.
struct RawRecord {
  std::string engine;
  std::vector<std::pair<std::string, std::string>> settings;  // a knob left out stands at `kLeftOut`
  Recorded recorded;
};
inline constexpr const char* kLeftOut = "default";
inline constexpr const char* kEngineKey = "engine";  // the one name that no knob has
Result<std::vector<RawRecord>> parse_t4(const std::string& text);
Result<std::vector<RawRecord>> parse_csv(const std::string& text);
Result<std::vector<RawRecord>> parse_own(const std::string& text);

/// Knobs are those that differ somewhere, values in numeric order where all are numbers, else as they come (kLeftOut first).
Result<Recording> make_recording(std::string name, std::vector<RawRecord> raw);

}  // namespace fiel
