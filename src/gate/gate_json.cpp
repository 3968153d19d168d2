// Gate results as the journal keeps them. A number that is not finite (a worst cosine that is undefined, a drop without a
// score) is written as text, since JSON has no word for it and a null would read as "absent".
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gate/gate.h"

namespace fiel {
namespace {

constexpr std::array kStatuses{GateStatus::kAdmissible, GateStatus::kRejected, GateStatus::kUndecided};
constexpr std::array kReasons{GateReason::kNone, GateReason::kNonFinite, GateReason::kWrongOutput,
                              GateReason::kTensorRule, GateReason::kTask, GateReason::kSlice,
                              GateReason::kFloor, GateReason::kUndecided};

Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Result<double> number_from(const Json& json, std::string_view key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (json.is_object() && found != json.end() && found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return get_number(json, key);
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_floating_point_v<T>) {
    json[key] = number(*value);
  } else {
    json[key] = *value;
  }
}

Result<> take(std::optional<double>& value, const Json& json, const char* key) {
  if (json.contains(key)) value = FIEL_TRY(number_from(json, key));
  return {};
}

template <class Enum, std::size_t N>
Result<Enum> word_from(const Json& json, const char* key, const std::array<Enum, N>& all) {
  const std::string word = FIEL_TRY(get_string(json, key));
  for (const Enum value : all) {
    if (to_string(value) == word) return value;
  }
  return fail(ErrorKind::kProtocol, fmt::format("\"{}\" is \"{}\", which this version does not know", key, word));
}

Json task_json(const TaskVerdict& verdict) {
  Json json = {{"task", verdict.task},     {"slice", verdict.slice},
               {"n", verdict.n},           {"reference_score", number(verdict.reference_score)},
               {"wins", verdict.wins},     {"candidate_score", number(verdict.candidate_score)},
               {"losses", verdict.losses}, {"drop", number(verdict.drop)},
               {"method", verdict.method}, {"status", to_string(verdict.status)}};
  put(json, "drop_lower", verdict.drop_lower);
  put(json, "drop_upper", verdict.drop_upper);
  put(json, "drop_error", verdict.drop_error);
  put(json, "margin", verdict.margin);
  put(json, "min_score", verdict.min_score);
  put(json, "score_bound", verdict.score_bound);
  put(json, "n_needed", verdict.n_needed);
  return json;
}

Result<TaskVerdict> task_from(const Json& json) {
  TaskVerdict verdict;
  verdict.task = FIEL_TRY(get_string(json, "task"));
  verdict.slice = FIEL_TRY(get_string(json, "slice"));
  verdict.n = FIEL_TRY(get_int(json, "n"));
  verdict.reference_score = FIEL_TRY(number_from(json, "reference_score"));
  verdict.candidate_score = FIEL_TRY(number_from(json, "candidate_score"));
  verdict.drop = FIEL_TRY(number_from(json, "drop"));
  verdict.wins = FIEL_TRY(get_int(json, "wins"));
  verdict.losses = FIEL_TRY(get_int(json, "losses"));
  verdict.method = FIEL_TRY(get_string(json, "method"));
  verdict.status = FIEL_TRY(word_from(json, "status", kStatuses));
  FIEL_TRY(take(verdict.drop_lower, json, "drop_lower"));
  FIEL_TRY(take(verdict.drop_upper, json, "drop_upper"));
  FIEL_TRY(take(verdict.drop_error, json, "drop_error"));
  FIEL_TRY(take(verdict.margin, json, "margin"));
  FIEL_TRY(take(verdict.min_score, json, "min_score"));
  FIEL_TRY(take(verdict.score_bound, json, "score_bound"));
  if (json.contains("n_needed")) verdict.n_needed = FIEL_TRY(get_int(json, "n_needed"));
  return verdict;
}

Json tensor_json(const TensorVerdict& verdict) {
  return {{"output", verdict.output},         {"metric", verdict.metric},
          {"worst", number(verdict.worst)},   {"worst_sample", verdict.worst_sample},
          {"bound", verdict.bound},           {"status", to_string(verdict.status)},
          {"mistrusted", verdict.mistrusted}, {"samples", verdict.samples},
          {"rejected", verdict.rejected},     {"message", verdict.message}};
}

Result<TensorVerdict> tensor_from(const Json& json) {
  TensorVerdict verdict;
  verdict.output = FIEL_TRY(get_string(json, "output"));
  verdict.metric = FIEL_TRY(get_string(json, "metric"));
  verdict.worst = FIEL_TRY(number_from(json, "worst"));
  verdict.worst_sample = FIEL_TRY(get_string(json, "worst_sample"));
  verdict.bound = FIEL_TRY(get_string(json, "bound"));
  verdict.status = FIEL_TRY(word_from(json, "status", kStatuses));
  verdict.mistrusted = FIEL_TRY(get_string(json, "mistrusted"));
  verdict.samples = FIEL_TRY(get_int(json, "samples"));
  verdict.rejected = FIEL_TRY(get_int(json, "rejected"));
  verdict.message = FIEL_TRY(get_string(json, "message"));
  return verdict;
}

}  // namespace

std::string_view to_string(GateStatus status) {
  switch (status) {
    case GateStatus::kAdmissible: return "admissible";
    case GateStatus::kRejected: return "rejected";
    case GateStatus::kUndecided: return "undecided";
  }
  return "unknown";
}

std::string_view to_string(GateReason reason) {
  switch (reason) {
    case GateReason::kNone: return "none";
    case GateReason::kNonFinite: return "non_finite";
    case GateReason::kWrongOutput: return "wrong_output";
    case GateReason::kTensorRule: return "tensor_rule";
    case GateReason::kTask: return "task";
    case GateReason::kSlice: return "slice";
    case GateReason::kFloor: return "floor";
    case GateReason::kUndecided: return "undecided";
  }
  return "unknown";
}

Json to_json(const GateResult& result) {
  Json json = {{"status", to_string(result.status)}, {"reason", to_string(result.reason)},
               {"message", result.message},          {"samples_seen", result.samples_seen},
               {"tasks", Json::array()},             {"tensors", Json::array()}};
  for (const TaskVerdict& verdict : result.tasks) json["tasks"].push_back(task_json(verdict));
  for (const TensorVerdict& verdict : result.tensors) json["tensors"].push_back(tensor_json(verdict));
  put(json, "margin_left", result.margin_left);
  put(json, "margin_to_spare", result.margin_to_spare);
  return json;
}

Result<GateResult> gate_result_from_json(const Json& json) {
  GateResult result;
  result.status = FIEL_TRY(word_from(json, "status", kStatuses));
  result.reason = FIEL_TRY(word_from(json, "reason", kReasons));
  result.message = FIEL_TRY(get_string(json, "message"));
  result.samples_seen = FIEL_TRY(get_int(json, "samples_seen"));
  FIEL_TRY(take(result.margin_left, json, "margin_left"));
  FIEL_TRY(take(result.margin_to_spare, json, "margin_to_spare"));
  for (const char* key : {"tasks", "tensors"}) {
    if (!json.contains(key) || !json[key].is_array()) {
      return fail(ErrorKind::kProtocol, fmt::format("\"{}\" is no list", key));
    }
  }
  for (const Json& task : json["tasks"]) result.tasks.push_back(FIEL_TRY(task_from(task)));
  for (const Json& tensor : json["tensors"]) result.tensors.push_back(FIEL_TRY(tensor_from(tensor)));
  return result;
}

}  // namespace fiel
