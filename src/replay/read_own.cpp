// fiel's own recordings: a JSON object a line, one candidate each. rounds[] are fresh processes with p50 in ms and wall_s;
// acc.tune is the score on the tuning set. A candidate's value is the median of its rounds' p50; it is admissible where
// nothing is NaN and its score is at most 0.01 below the best float32 one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "replay/recording.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kMaxDrop = 0.01;

// Python writes NaN and Infinity, which JSON does not know.
std::string with_nulls(std::string_view row) {
  std::string text(row);
  for (const std::string_view word : {": NaN", ": Infinity", ": -Infinity"}) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) text.replace(at, word.size(), ": null");
  }
  return text;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return dump_json(value);
  std::string joined;
  for (const Json& part : value) joined += (joined.empty() ? "" : "+") + text_of(part);
  return joined;
}

struct Line {
  RawRecord record;
  std::optional<double> score;
  bool is_float32 = false;
};

Result<Line> parse_line(const Json& json) {
  Line line{.record = {.engine = FIEL_TRY(get_string(json, "engine")), .settings = {}, .recorded = {}}, .score = {}};
  for (const char* key : {"variant", "shape"}) line.record.settings.emplace_back(key, FIEL_TRY(get_string(json, key)));
  line.is_float32 = line.record.settings.front().second == "fp32";
  for (const auto& [name, value] : object_or_empty(json, "opts").items()) {
    if (value.is_object()) {
      for (const auto& [inner, setting] : value.items()) line.record.settings.emplace_back(inner, text_of(setting));
    } else {
      line.record.settings.emplace_back(name, text_of(value));
    }
  }
  Recorded& recorded = line.record.recorded;
  const auto rounds = json.find("rounds");
  if (rounds == json.end() || !rounds->is_array()) return fail(ErrorKind::kUsage, "rounds: no list");
  for (const Json& round : *rounds) {
    if (const auto p50 = round.find("p50"); p50 != round.end() && p50->is_number()) recorded.timings.push_back(p50->get<double>());
    recorded.timing_seconds += number_or(round, "wall_s", 0);
  }
  const Json& accuracy = object_or_empty(json, "acc");
  if (accuracy.contains("tune") && accuracy["tune"].is_number()) line.score = accuracy["tune"].get<double>();
  if (number_or(accuracy, "nan_samples", 0) > 0) line.score.reset();
  const bool is_reused = json.contains("acc_reused") && json["acc_reused"].is_boolean() && json["acc_reused"].get<bool>();
  if (!is_reused) recorded.fixed_seconds = number_or(accuracy, "eval_s", 0);
  if (recorded.timings.empty()) return line;
  recorded.outcome = Trial::Outcome::kRejected;  // until its score is compared
  recorded.value = stats::median(recorded.timings);
  return line;
}

}  // namespace

Result<std::vector<RawRecord>> parse_own(const std::string& text) {
  std::vector<Line> lines;
  std::string_view left = text;
  for (int number = 1; !left.empty(); ++number) {
    const auto end = left.find('\n');
    const std::string_view row = left.substr(0, end);
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = parse_json(with_nulls(row));
    auto line = json ? parse_line(*json) : Result<Line>(std::unexpected(json.error()));
    if (!line) return std::unexpected(std::move(line).error().with_context(fmt::format("line {}", number)));
    lines.push_back(*std::move(line));
  }
  double best = -1.0;
  for (const Line& line : lines) {
    if (line.is_float32 && line.score) best = std::max(best, *line.score);
  }
  std::vector<RawRecord> records;
  for (Line& line : lines) {
    Recorded& recorded = line.record.recorded;
    if (line.score && *line.score >= best - kMaxDrop && recorded.value) recorded.outcome = Trial::Outcome::kAdmissibleSoFar;
    // The time of what is not admissible is told as well, as in a run; it is no value to find.
    records.push_back(std::move(line.record));
  }
  return records;
}

}  // namespace fiel
