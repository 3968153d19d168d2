// CSV without quotes: a header, a column for each knob (`engine`: whose knobs they are), the last one the cost. The recordings say nothing of the time that
// a trial took, so each counts one second: the clock counts trials.
#include <fmt/format.h>

#include <cmath>

#include "base/numbers.h"
#include "replay/recording.h"

namespace fiel {
namespace {

std::vector<std::string> cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> found;
  for (;;) {
    const auto comma = line.find(',');
    found.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return found;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<RawRecord>> parse_csv(const std::string& text) {
  std::vector<RawRecord> records;
  std::vector<std::string> header;
  std::string_view left = text;
  for (int number = 1; !left.empty(); ++number) {
    const auto end = left.find('\n');
    const std::string_view line = left.substr(0, end);
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
    if (line.empty() || line == "\r") continue;
    auto row = cells(line);
    if (header.empty()) {
      header = std::move(row);
      if (header.size() < 2) return fail(ErrorKind::kUsage, "line 1: a knob's column and the cost are needed, separated by ','");
      continue;
    }
    if (row.size() != header.size()) {
      return fail(ErrorKind::kUsage, fmt::format("line {}: {} cells under {} columns", number, row.size(), header.size()));
    }
    const auto cost = number_from<double>(row.back());
    if (!cost) return fail(ErrorKind::kUsage, fmt::format("line {}: the cost '{}' is not a number", number, row.back()));
    RawRecord record{.engine = "recorded", .settings = {}, .recorded = {}};
    record.recorded.timing_seconds = 1.0;
    if (std::isfinite(*cost)) {
      record.recorded.outcome = Trial::Outcome::kAdmissibleSoFar;
      record.recorded.value = *cost;
    }
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      if (header[i] == kEngineKey) {
        record.engine = std::move(row[i]);
      } else {
        record.settings.emplace_back(header[i], std::move(row[i]));
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace fiel
