#include "decide/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace fiel {
namespace {

constexpr std::array<std::pair<CandidateStatus, std::string_view>, 17> kStatusNames = {{
    {CandidateStatus::kTried, "tried"},
    {CandidateStatus::kAdmissible, "admissible"},
    {CandidateStatus::kUnsupported, "unsupported"},
    {CandidateStatus::kBuildError, "build_error"},
    {CandidateStatus::kCrash, "crash"},
    {CandidateStatus::kTimeout, "timeout"},
    {CandidateStatus::kOutOfMemory, "out_of_memory"},
    {CandidateStatus::kNonFinite, "non_finite"},
    {CandidateStatus::kWrong, "wrong"},
    {CandidateStatus::kWrongSlice, "wrong_slice"},
    {CandidateStatus::kOverLimit, "over_limit"},
    {CandidateStatus::kUnstable, "unstable"},
    {CandidateStatus::kOverloaded, "overloaded"},
    {CandidateStatus::kFellBack, "fell_back"},
    {CandidateStatus::kDuplicate, "duplicate"},
    {CandidateStatus::kMistrusted, "mistrusted"},
    {CandidateStatus::kUndecided, "undecided"},
}};

Result<int> id_of(const Json& body) { return static_cast<int>(FIEL_TRY(get_int(body, "id"))); }

Result<> set_status(CandidateState& state, const Json& body) {
  const std::string name = FIEL_TRY(get_string(body, "status"));
  const auto status = parse_candidate_status(name);
  if (!status) return fail(ErrorKind::kCorrupt, fmt::format("unknown candidate status \"{}\"", name));
  state.status = *status;
  state.reason = body.value("reason", "");
  return {};
}

std::optional<double> optional_number(const Json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<LatencySummary> latency_of(const Json& body) {
  const auto found = body.find("latency");
  if (found == body.end() || !found->is_object()) return std::nullopt;
  return LatencySummary{.count = found->value("count", std::int64_t{0}),
                        .mean_seconds = found->value("mean_seconds", 0.0),
                        .p50_seconds = found->value("p50_seconds", 0.0),
                        .p90_seconds = optional_number(*found, "p90_seconds"),
                        .p99_seconds = optional_number(*found, "p99_seconds"),
                        .p90_at_most_seconds = optional_number(*found, "p90_at_most_seconds"),
                        .p99_at_most_seconds = optional_number(*found, "p99_at_most_seconds"),
                        .per_second = found->value("per_second", 0.0)};
}

void take_accelerator(CandidateState& state, const Json& body) {
  const auto found = body.find("accelerator");
  if (found == body.end() || !found->is_object()) return;
  const auto bytes = optional_number(*found, "memory_bytes");
  state.accelerator = AcceleratorSummary{.p50_seconds = optional_number(*found, "p50_seconds"),
                                         .memory_bytes = bytes ? std::optional(static_cast<std::int64_t>(*bytes)) : std::nullopt};
}

Result<> on_candidate(Standing& standing, const Json& body) {
  const int id = FIEL_TRY(id_of(body));
  CandidateState& state = standing.at(id);
  state.digest = FIEL_TRY(get_string(body, "digest"));
  const Json& route = object_or_empty(body, "route");
  state.route.engine = FIEL_TRY(get_string(route, "engine"));
  for (const auto& [knob, value] : object_or_empty(route, "settings").items()) {
    if (value.is_string()) state.route.settings[knob] = value.get<std::string>();
  }
  state.roles = FIEL_TRY(get_strings(body, "roles"));
  if (state.has_role("reference")) standing.reference = id;
  if (state.has_role("baseline")) standing.baseline = id;
  return {};
}

Result<> on_build(Standing& standing, const Json& body) {
  CandidateState& state = standing.at(FIEL_TRY(id_of(body)));
  FIEL_TRY(set_status(state, body));
  state.artifact = body.value("artifact", "");
  state.artifact_bytes = body.value("artifact_bytes", std::int64_t{0});
  state.build_seconds = body.value("build_seconds", 0.0);
  return {};
}

Result<> on_measured(Standing& standing, const Json& body) {
  CandidateState& state = standing.at(FIEL_TRY(id_of(body)));
  FIEL_TRY(set_status(state, body));
  if (const auto ratio = optional_number(body, "log_ratio")) state.screen_log_ratio = ratio;
  if (const auto latency = latency_of(body)) state.latency = latency;
  take_accelerator(state, body);
  if (const auto margin = optional_number(body, "margin_left")) state.accuracy_margin_left = margin;
  if (const auto spare = optional_number(body, "margin_to_spare")) state.accuracy_to_spare = spare;
  state.peak_memory_bytes = std::max(state.peak_memory_bytes, body.value("peak_memory_bytes", std::int64_t{0}));
  return {};
}

// What any session of timings tells of those who took part.
Result<> on_timed(Standing& standing, const Json& body) {
  for (const Json& entry : body.value("contenders", Json::array())) {
    CandidateState& state = standing.at(FIEL_TRY(id_of(entry)));
    if (const auto latency = latency_of(entry)) state.latency = latency;
    take_accelerator(state, entry);
    if (entry.contains("status")) FIEL_TRY(set_status(state, entry));
    state.peak_memory_bytes =
        std::max(state.peak_memory_bytes, entry.value("peak_memory_bytes", std::int64_t{0}));
  }
  return {};
}

Result<> on_race(Standing& standing, const Json& body) {
  for (const Json& entry : body.value("contenders", Json::array())) {
    const auto ratio = optional_number(entry, "log_ratio");
    if (ratio) standing.at(FIEL_TRY(id_of(entry))).race_log_ratios.push_back(*ratio);
  }
  return on_timed(standing, body);
}

Result<> on_race_end(Standing& standing, const Json& body) {
  for (const Json& id : body.value("nominees", Json::array())) standing.nominees_in_order.push_back(id.get<int>());
  for (const Json& id : body.value("equivalent", Json::array())) standing.equivalent.push_back(id.get<int>());
  for (const Json& entry : body.value("contenders", Json::array())) {
    CandidateState& state = standing.at(FIEL_TRY(id_of(entry)));
    if (const auto latency = latency_of(entry)) state.latency = latency;
    if (entry.contains("status")) FIEL_TRY(set_status(state, entry));
  }
  return {};
}

// A candidate may fall (crash, answer differently) in any session.
Result<> on_fallen(Standing& standing, const Json& body) {
  for (const Json& entry : body.value("contenders", Json::array())) {
    if (entry.contains("status")) {
      const int id = FIEL_TRY(id_of(entry));
      FIEL_TRY(set_status(standing.at(id), entry));
    }
  }
  return {};
}

Result<> on_confirm(Standing& standing, const Json& body) {
  const int id = FIEL_TRY(id_of(body));
  NomineeState& nominee = standing.nominees[id];
  nominee.id = id;
  if (const auto alpha = optional_number(body, "alpha")) nominee.alpha = *alpha;
  if (const auto ratio = optional_number(body, "log_ratio")) {
    nominee.sessions.push_back({.log_ratio = *ratio, .win = body.value("win", false)});
  }
  if (body.contains("status")) FIEL_TRY(set_status(standing.at(id), body));
  FIEL_TRY(on_fallen(standing, body));
  nominee.speed = body.value("speed", nominee.speed);
  nominee.holdout = body.value("holdout", nominee.holdout);
  return {};
}

}  // namespace

std::string_view to_string(CandidateStatus status) {
  for (const auto& [value, name] : kStatusNames) {
    if (value == status) return name;
  }
  return "unknown";
}

std::optional<CandidateStatus> parse_candidate_status(std::string_view name) {
  for (const auto& [value, text] : kStatusNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

bool in_the_race(CandidateStatus status) {
  return status == CandidateStatus::kTried || status == CandidateStatus::kAdmissible;
}

std::optional<double> seconds_per_execution(const LatencySummary& latency, std::string_view scenario, std::string_view objective) {
  if (scenario == "offline" || objective == "throughput") {
    return latency.per_second > 0 ? std::optional(1 / latency.per_second) : std::nullopt;
  }
  return objective == "latency_p50" ? latency.p50_seconds : latency.mean_seconds;
}

bool CandidateState::has_role(std::string_view role) const { return std::ranges::find(roles, role) != roles.end(); }

CandidateState& Standing::at(int id) {
  CandidateState& state = candidates[id];
  state.id = id;
  return state;
}

Result<> Standing::apply(const Event& event) {
  const Json body = FIEL_TRY(parse_json(event.body));
  stage = event.type;
  if (event.type == "candidate") return on_candidate(*this, body);
  if (event.type == "build") return on_build(*this, body);
  if (event.type == "probe" || event.type == "gate" || event.type == "consistency") return on_measured(*this, body);
  if (event.type == "comparator") comparator = FIEL_TRY(id_of(body));
  if (event.type == "search_end") stop_reason = body.value("stop_reason", "");
  if (event.type == "variant") variant_bytes[body.value("variant", "")] = body.value("bytes", std::int64_t{0});
  if (event.type == "anchors") return on_timed(*this, body);
  if (event.type == "race") return on_race(*this, body);
  if (event.type == "race_end") return on_race_end(*this, body);
  if (event.type == "confirm" || event.type == "confirm_end" || event.type == "holdout") {
    return on_confirm(*this, body);
  }
  if (event.type == "estimate") {
    FIEL_TRY(on_fallen(*this, body));
    if (const auto ratio = optional_number(body, "log_ratio")) estimate_log_ratios.push_back(*ratio);
  }
  if (event.type == "verdict") {
    verdict = body.value("verdict", "");
    if (verdict.empty()) return fail(ErrorKind::kCorrupt, "a verdict without a word");
  }
  return {};
}

Result<Standing> Standing::of(const Journal& journal) {
  Standing standing;
  for (const Event& event : journal.events()) {
    if (auto applied = standing.apply(event); !applied) {
      return std::unexpected(std::move(applied).error().with_context(fmt::format("event {}", event.key)));
    }
  }
  return standing;
}

}  // namespace fiel
