#include "decide/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/rng.h"
#include "decide/judge_full.h"
#include "decide/places.h"
#include "decide/rounds.h"
#include "journal/record.h"

namespace fiel {
namespace {

constexpr int kAttempts = 2;  // of the process that all others are compared with

// Starts, loads and probes one candidate; on failure the entry says why and nothing is returned.
Result<std::optional<Live>> admit(Lab& lab, int id, std::span<const int> samples, Json& entry) {
  auto started = start_live(lab, id);
  if (const auto* failure = std::get_if<Failure>(&started)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    set_outcome(entry, *failure);
    return std::optional<Live>();
  }
  Live live = std::get<Live>(std::move(started));
  if (const auto unfaithful = FIEL_TRY(probe_faith(lab, live, samples, entry))) {
    set_outcome(entry, unfaithful->status, unfaithful->reason);
    return std::optional<Live>();
  }
  live.worker->pause();
  return std::optional(std::move(live));
}

struct Cast {
  std::vector<Live> live;
  std::vector<Json> entries;           // by position in ids
  std::vector<std::size_t> positions;  // of `live` in ids
  Json start_order = Json::array();
};

Result<Cast> start_all(Lab& lab, const std::vector<int>& ids, const RoundsPlan& plan) {
  Cast cast;
  for (const int id : ids) cast.entries.push_back({{"id", id}});
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(sub_seed(plan.seed, "start"));
  rng.shuffle(std::span(order));
  for (const std::size_t position : order) {
    cast.start_order.push_back(ids[position]);
    auto live = FIEL_TRY(admit(lab, ids[position], plan.samples, cast.entries[position]));
    if (!live) continue;
    cast.live.push_back(std::move(*live));
    cast.positions.push_back(position);
  }
  return cast;
}

Result<> take_times(Lab& lab, Cast& cast, const RoundsResult& rounds) {
  const auto base = static_cast<std::size_t>(std::ranges::find(cast.positions, std::size_t{0}) - cast.positions.begin());
  for (std::size_t i = 0; i < cast.live.size(); ++i) {
    Json& entry = cast.entries[cast.positions[i]];
    const ContenderTimes& times = rounds.times[i];
    entry["peak_memory_bytes"] = cast.live[i].worker->usage().peak_memory_bytes;
    if (times.failure) {
      set_outcome(entry, *times.failure);
      continue;
    }
    if (const auto unfaithful = FIEL_TRY(check_faith(lab, cast.live[i].id, times.outputs, entry))) {
      set_outcome(entry, unfaithful->status, unfaithful->reason);
      continue;
    }
    entry["latency"] = latency_json(lab.contract.scenario, times);
    if (Json told = accelerator_json(times); !told.is_null()) entry["accelerator"] = std::move(told);
    if (times.overloaded()) set_outcome(entry, CandidateStatus::kOverloaded, times.why_overloaded);
    if (i == base) continue;
    if (times.overloaded()) continue;  // its latencies say how long it was looked at, not how fast it is
    if (const auto ratio = session_log_ratio(rounds, base, i)) entry["log_ratio"] = *ratio;
  }
  return {};
}

SessionView view_of(const Json& body) {
  SessionView view{.entries = {}, .rounds = static_cast<int>(body["rounds"].size()),
                   .rejected_rounds = body["rejected_rounds"].get<int>(), .seconds = body["seconds"].get<double>()};
  for (const Json& entry : body["contenders"]) {
    SessionEntry seen{.id = entry["id"].get<int>(), .log_ratio = {}, .fallen = {}, .reason = entry.value("reason", "")};
    if (entry.contains("log_ratio")) seen.log_ratio = entry["log_ratio"].get<double>();
    if (entry.contains("status")) seen.fallen = parse_candidate_status(entry["status"].get<std::string>());
    view.entries.push_back(std::move(seen));
  }
  return view;
}

// Of the one that the others are compared with: an overloaded one is out, but its time still serves to compare.
bool fell(const Json& entry) {
  return entry.contains("status") && entry["status"] != to_string(CandidateStatus::kOverloaded);
}

using Finish = std::function<Result<>(Json& body, const SessionView& view, std::vector<Live>& live)>;

Result<Record> session_once(Lab& lab, const std::string& key, const std::vector<int>& ids, const Finish& finish) {
  const double started_at = lab.recorder.live_seconds();
  const RoundsPlan plan = rounds_plan(lab, key);
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto faith_before = lab.faith;
    Cast cast = FIEL_TRY(start_all(lab, ids, plan));
    std::vector<Contender> contenders;
    for (std::size_t i = 0; i < cast.live.size(); ++i) {
      contenders.push_back({.live = &cast.live[i], .name = fmt::format("{}", cast.live[i].id)});
    }
    Record record;
    RoundsResult rounds;
    if (!fell(cast.entries[0])) {
      rounds = FIEL_TRY(time_rounds(lab, contenders, plan));
      FIEL_TRY(take_times(lab, cast, rounds));
    }
    if (fell(cast.entries[0])) {
      why = cast.entries[0]["reason"].get<std::string>();
      lab.faith = faith_before;
      continue;
    }
    record.series = rounds_series(contenders, rounds);
    record.body = {{"contenders", cast.entries},         {"start_order", cast.start_order},
                   {"rounds", std::move(rounds.json)},   {"rejected_rounds", rounds.rejected_rounds},
                   {"seconds", lab.recorder.live_seconds() - started_at}};
    if (finish) FIEL_TRY(finish(record.body, view_of(record.body), cast.live));
    for (Live& live : cast.live) say_bye(*live.worker);
    return record;
  }
  return fail(ErrorKind::kDied,
              fmt::format("candidate {}, which the others are compared with, failed in {} processes: {}", ids[0],
                          kAttempts, why),
              "see logs/ in the run folder; `fiel resume` tries again");
}

}  // namespace

Result<SessionView> run_session(Lab& lab, const std::string& key, const std::string& type, const std::vector<int>& ids,
                                const Finish& finish) {
  const bool known = lab.recorder.recorded(key);
  const Json body = FIEL_TRY(once_on_one_machine(lab, key, type, [&] { return session_once(lab, key, ids, finish); }));
  if (known) {
    for (const Json& entry : body["contenders"]) recall_faith(lab, entry["id"].get<int>(), entry);
  }
  return view_of(body);
}

}  // namespace fiel
