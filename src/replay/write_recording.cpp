#include "replay/write_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace fiel {
namespace {

// Numbers as numbers, as T4 files have them: 16 and "16" are one value to a reader of ours, not to every other one.
Json value_json(const std::string& text) {
  const auto parsed = parse_json(text);
  return parsed && parsed->is_number() && dump_json(*parsed) == text ? *parsed : Json(text);
}

// Cells have no quotes: what would break a row is replaced, as read_recording() replaces blanks.
std::string cell(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == ',' || c == '\n' || c == '\r'; }, '_');
  return text;
}

Json result_json(const Written& record) {
  Json configuration = {{"engine", record.engine}};
  for (const auto& [knob, value] : record.settings) configuration[knob] = value_json(value);
  Json measurements = Json::array();
  for (const Measurement& measurement : record.measurements) {
    measurements.push_back({{"name", measurement.name}, {"value", measurement.value}, {"unit", measurement.unit}});
  }
  Json json = {{"timestamp", record.timestamp},
               {"configuration", configuration},
               {"times", {{"compilation", 1e3 * record.compile_seconds},
                          {"framework", 1e3 * record.other_seconds},
                          {"search_algorithm", 0},
                          {"validation", 1e3 * record.validate_seconds},
                          {"runtimes", record.timings_ms}}},
               {"invalidity", record.invalidity},
               {"correctness", record.invalidity == "correct" ? 1 : 0},
               {"measurements", measurements}};
  json["objectives"] = record.measurements.empty() ? Json::array() : Json::array({record.measurements.front().name});
  return json;
}

}  // namespace

std::string t4_text(std::span<const Written> records) {
  Json document = {{"schema_version", "1.0.0"}, {"metadata", {{"timeunit", "milliseconds"}}}, {"results", Json::array()}};
  for (const Written& record : records) document["results"].push_back(result_json(record));
  return document.dump(1) + "\n";
}

std::string csv_text(std::span<const Written> records) {
  std::vector<std::string> knobs;
  std::string cost = "cost";
  for (const Written& record : records) {
    for (const auto& [knob, value] : record.settings) {
      if (std::ranges::find(knobs, knob) == knobs.end()) knobs.push_back(knob);
    }
    if (!record.measurements.empty()) cost = fmt::format("{}_{}", record.measurements.front().name, record.measurements.front().unit);
  }
  std::string text = "engine";
  for (const std::string& knob : knobs) text += "," + cell(knob);
  text += "," + cell(cost) + "\n";
  for (const Written& record : records) {
    text += cell(record.engine);
    for (const std::string& knob : knobs) {
      const auto found = std::ranges::find(record.settings, knob, &std::pair<std::string, std::string>::first);
      text += "," + (found == record.settings.end() ? std::string(kLeftOut) : cell(found->second));
    }
    const bool has_cost = record.invalidity == "correct" && !record.measurements.empty();
    text += has_cost ? fmt::format(",{}\n", record.measurements.front().value) : ",inf\n";
  }
  return text;
}

}  // namespace fiel
