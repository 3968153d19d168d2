// Small recordings for tests, made here.
#pragma once

#include <string>
#include <utility>

#include "replay/recording.h"

namespace fiel {

inline RawRecord raw_record(std::vector<std::pair<std::string, std::string>> settings, double value, double seconds = 1.0) {
  RawRecord record{.engine = "recorded", .settings = std::move(settings), .recorded = {}};
  record.recorded.outcome = Trial::Outcome::kAdmissibleSoFar;
  record.recorded.value = value;
  record.recorded.fixed_seconds = seconds;
  return record;
}

/// Values 1 ... count by chance over a square of knobs; a draw takes a second.
inline Recording ranked_recording(int side) {
  std::vector<int> values;
  for (int i = 1; i <= side * side; ++i) values.push_back(i);
  Rng rng(7);
  rng.shuffle(std::span(values));
  std::vector<RawRecord> raw;
  for (int i = 0; i < side * side; ++i) {
    raw.push_back(raw_record({{"x", std::to_string(i / side)}, {"y", std::to_string(i % side)}}, values[static_cast<std::size_t>(i)]));
  }
  auto recording = make_recording("ranked", std::move(raw));
  FIEL_CHECK(recording.has_value());
  return *std::move(recording);
}

}  // namespace fiel
