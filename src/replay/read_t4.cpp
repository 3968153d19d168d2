// T4: {"metadata":{"timeunit":…},"results":[{"configuration":{…},"times":{"compilation":…,"framework":…,"validation":…,
// "runtimes":[…]},"invalidity":"correct|…","measurements":[{"name":…,"value":…}],"objectives":[…]},…]}. Times are in ms.
// Only costs are minimised here: an objective that is a rate is refused. A key `engine` names the engine, whose knobs are
// its own (fiel writes such files: write_recording.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json.h"
#include "replay/recording.h"

namespace fiel {
namespace {

Result<double> unit_seconds(const Json& document) {
  const Json& metadata = object_or_empty(document, "metadata");
  const std::string unit = text_or(metadata, "timeunit", "milliseconds");
  if (unit == "miliseconds" || unit == "milliseconds" || unit == "ms") return 1e-3;
  if (unit == "seconds" || unit == "s") return 1.0;
  return fail(ErrorKind::kUsage, fmt::format("metadata.timeunit '{}' is not known", unit), "use milliseconds or seconds");
}

double time_of(const Json& times, const char* key) {
  return std::max(0.0, number_or(times, key, 0.0));
}

std::optional<double> objective_of(const Json& result) {
  const auto objectives = result.find("objectives");
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return std::nullopt;
  const bool is_named = objectives != result.end() && objectives->is_array() && !objectives->empty() && objectives->front().is_string();
  for (const Json& measurement : *measurements) {
    if (is_named && text_or(measurement, "name", "") != objectives->front().get<std::string>()) continue;
    const auto value = measurement.find("value");
    if (value != measurement.end() && value->is_number()) return value->get<double>();
  }
  return std::nullopt;
}

Result<Recorded> recorded_of(const Json& result, double unit) {
  Recorded recorded;
  const Json& times = object_or_empty(result, "times");
  for (const char* key : {"compilation", "framework", "validation"}) recorded.fixed_seconds += unit * time_of(times, key);
  const auto runtimes = times.find("runtimes");
  if (runtimes != times.end() && runtimes->is_array()) {
    for (const Json& runtime : *runtimes) {
      if (runtime.is_number()) recorded.timings.push_back(runtime.get<double>());
    }
  }
  recorded.timing_seconds = unit * std::accumulate(recorded.timings.begin(), recorded.timings.end(), 0.0);
  const std::string invalidity = text_or(result, "invalidity", "correct");
  if (invalidity == "correctness") {  // where it was timed, a search may be told that time, as in a run
    recorded.outcome = Trial::Outcome::kRejected;
    if (!recorded.timings.empty()) recorded.value = objective_of(result);
  }
  if (invalidity != "correct") return recorded;
  recorded.value = objective_of(result);
  if (recorded.value) recorded.outcome = Trial::Outcome::kAdmissibleSoFar;
  return recorded;
}

}  // namespace

Result<std::vector<RawRecord>> parse_t4(const std::string& text) {
  const Json document = FIEL_TRY(parse_json(text));
  const auto results = document.is_object() ? document.find("results") : document.end();
  if (!document.is_object() || results == document.end() || !results->is_array()) {
    return fail(ErrorKind::kUsage, "no list 'results'", "a T4 file is {\"metadata\":{…},\"results\":[…]}");
  }
  const double unit = FIEL_TRY(unit_seconds(document));
  std::vector<RawRecord> records;
  for (const Json& result : *results) {
    const auto where = [&](std::string_view key) { return fmt::format("results[{}].{}", records.size(), key); };
    const auto configuration = result.is_object() ? result.find("configuration") : result.end();
    if (!result.is_object() || configuration == result.end() || !configuration->is_object()) {
      return fail(ErrorKind::kUsage, where("configuration") + " is no object");
    }
    if (const auto objectives = result.find("objectives"); objectives != result.end() && objectives->is_array()) {
      for (const Json& objective : *objectives) {
        if (!objective.is_string() || objective.get<std::string>().find("/s") != std::string::npos) {
          return fail(ErrorKind::kUsage, fmt::format("{}: {} is not a cost", where("objectives"), dump_json(objective)),
                      "record a time: smaller is better");
        }
      }
    }
    RawRecord record{.engine = "recorded", .settings = {}, .recorded = FIEL_TRY(recorded_of(result, unit))};
    for (const auto& [knob, value] : configuration->items()) {
      std::string setting = value.is_string() ? value.get<std::string>() : dump_json(value);
      if (knob == kEngineKey) {
        record.engine = std::move(setting);
      } else {
        record.settings.emplace_back(knob, std::move(setting));
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace fiel
