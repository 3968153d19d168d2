// A recording as a file that read_recording() reads back: T4, or CSV for whoever has no T4. The inverse of read_t4.cpp and
// read_csv.cpp; what they hold and what gets lost stands here.
//
//   T4    everything: why a configuration has no value (`invalidity`), where its time went, every timing, all measurements
//   CSV   one column a knob, the last one the cost; what failed or was rejected has the cost `inf`, and every row counts one
//         second when it is replayed
//
// A column or key `engine` is the engine; a knob that a row leaves out stands at `kLeftOut`. Times are milliseconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/recording.h"

namespace fiel {

struct Measurement {
  std::string name;
  double value = 0;
  std::string unit;
};

struct Written {
  std::string engine;
  std::vector<std::pair<std::string, std::string>> settings = {};
  std::string timestamp = {};
  std::string_view invalidity = "correct";  // timeout | compile | runtime | correctness | constraints | correct
  double compile_seconds = 0;
  double validate_seconds = 0;
  double other_seconds = 0;                  // processes started, warmed up, timed for others
  std::vector<double> timings_ms = {};
  std::vector<Measurement> measurements = {};  // the first one is the cost; may be there for what is not correct
};

std::string t4_text(std::span<const Written> records);
/// Knobs in the order in which they first come.
std::string csv_text(std::span<const Written> records);

}  // namespace fiel
