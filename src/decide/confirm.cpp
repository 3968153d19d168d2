#include "decide/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "decide/holdout_pass.h"
#include "decide/places.h"
#include "decide/race.h"
#include "decide/session.h"
#include "journal/record.h"
#include "stats/e_process.h"
#include "stats/noise.h"
#include "stats/quantiles.h"
#include "stats/spending.h"

namespace fiel {
namespace {

// The test, the sessions' values and the rounds so far, walked from the record.
struct Walk {
  explicit Walk(double alpha) : test(alpha) {}
  stats::PairTest test;
  std::vector<double> log_ratios;
  int rounds = 0, rejected_rounds = 0;
};

ProofResult conclude(const Lab& lab, const Walk& walk, bool out_of_time, bool fallen, const std::string& why) {
  const auto& sessions = walk.test.sessions();
  const std::string score = fmt::format("{} of {} sessions won, E = {:.3g} of the {:.0f} needed", sessions.won, sessions.all,
                                        std::exp(walk.test.log_e()), 1 / walk.test.alpha());
  if (fallen) return {Proof::kRefuted, why};
  if (too_noisy(walk.rounds, walk.rejected_rounds)) {
    return {Proof::kUndecided, fmt::format("noise: {} of {} rounds rejected since others used the machine; {}",
                                           walk.rejected_rounds, walk.rounds, score)};
  }
  if (walk.test.confirmed()) return {Proof::kProven, score};
  const double needed = std::log1p(lab.contract.min_gain);
  const bool estimate_holds = !walk.log_ratios.empty() && stats::median(walk.log_ratios) > needed;
  if (!estimate_holds && !walk.log_ratios.empty()) return {Proof::kRefuted, score};
  const auto deviation = stats::standard_deviation(walk.log_ratios);
  if (deviation && *deviation > stats::kRestlessSessionDeviation) {
    return {Proof::kUndecided, fmt::format("noise: sessions vary by {:.1f} %; {}", 100 * *deviation, score)};
  }
  return {Proof::kUndecided, fmt::format("{}: {}", out_of_time ? "time budget reached" : "session cap reached", score)};
}

// The inverse of to_string, for records.
Proof parse_proof(std::string_view word) {
  for (const Proof proof : {Proof::kProven, Proof::kRefuted}) {
    if (word == to_string(proof)) return proof;
  }
  return Proof::kUndecided;
}

Proof proof_of(GateStatus status) {
  switch (status) {
    case GateStatus::kAdmissible: return Proof::kProven;
    case GateStatus::kRejected: return Proof::kRefuted;
    case GateStatus::kUndecided: return Proof::kUndecided;
  }
  return Proof::kUndecided;
}

}  // namespace

std::string_view to_string(Proof proof) {
  switch (proof) {
    case Proof::kProven: return "confirmed";
    case Proof::kRefuted: return "lost";
    case Proof::kUndecided: return "undecided";
  }
  return "undecided";
}

Result<ProofResult> confirm_speed(Lab& lab, int comparator, int nominee, int turn, const TimeLeft& time_left,
                                  const EveryProcess& look) {
  const double alpha = stats::nominee_alpha(1 - lab.contract.speed_confidence, turn);
  Walk walk(alpha);
  bool out_of_time = false, fallen = false;
  std::string why;
  while (!walk.test.confirmed() && walk.test.can_confirm_within(kMaxDecidingSessions)) {
    const auto number = walk.test.sessions().all + 1;
    const std::string key = fmt::format("confirm/{}/{}", turn, number);
    if (!lab.recorder.recorded(key) && !time_left()) {
      out_of_time = true;
      break;
    }
    const auto view = FIEL_TRY(run_session(lab, key, "confirm", {comparator, nominee},
                                           [&](Json& body, const SessionView& seen, std::vector<Live>& live) -> Result<> {
      body["id"] = nominee;
      body["alpha"] = alpha;
      if (look && !seen.entries[1].fallen) {
        Live& process = *std::ranges::find_if(live, [&](const Live& one) { return one.id == nominee; });
        if (const auto unfaithful = FIEL_TRY(look(process))) {
          set_outcome(body["contenders"][1], unfaithful->status, unfaithful->reason);
          return {};
        }
      }
      if (seen.entries[1].log_ratio) {
        body["log_ratio"] = *seen.entries[1].log_ratio;
        body["win"] = stats::session_is_won(*seen.entries[1].log_ratio, lab.contract.min_gain);
      }
      return {};
    }));
    walk.rounds += view.rounds;
    walk.rejected_rounds += view.rejected_rounds;
    if (view.entries[1].fallen) {
      fallen = true;
      why = view.entries[1].reason;
      break;
    }
    const auto ratio = view.entries[1].log_ratio;
    if (!ratio) {  // every round rejected: no evidence either way; noise ends it
      out_of_time = true;
      break;
    }
    walk.log_ratios.push_back(*ratio);
    walk.test.add_session(stats::session_is_won(*ratio, lab.contract.min_gain));
    lab.progress.step(fmt::format("session {}: {:.3f} times as fast as the comparator{}; E = {:.3g} of {:.0f}", number, std::exp(*ratio),
                                  stats::session_is_won(*ratio, lab.contract.min_gain) ? "" : " (not a win)",
                                  std::exp(walk.test.log_e()), 1 / alpha));
  }
  const Json end = FIEL_TRY(lab.recorder.once(fmt::format("confirm/{}/end", turn), "confirm_end",
                                              [&]() -> Result<Record> {
    const ProofResult result = conclude(lab, walk, out_of_time, fallen, why);
    Json body = {{"id", nominee}, {"turn", turn}, {"alpha", alpha}, {"speed", to_string(result.proof)},
                 {"message", result.message}, {"won", walk.test.sessions().won}, {"sessions", walk.test.sessions().all},
                 {"e_value", std::exp(walk.test.log_e())}};
    if (fallen) set_outcome(body, lab.standing.at(nominee).status, why);
    return Record{.body = std::move(body)};
  }));
  return ProofResult{parse_proof(end["speed"].get<std::string>()), end["message"].get<std::string>()};
}

namespace {

Result<Record> judge_holdout(Lab& lab, const HoldoutSet& holdout, const Opening& opening, int nominee, double alpha) {
  const SampleSet& set = holdout.samples(opening);
  const ReferenceStore reference = FIEL_TRY(holdout_reference(lab, set));
  Json body = {{"id", nominee}, {"alpha", alpha}, {"opening", opening.number()}};
  Judge judge(lab.contract, set, reference, lab.folder / "scratch", lab.cancel_fd);
  const auto failure = FIEL_TRY(infer_holdout_afresh(lab, nominee, set, [&](auto outputs) { return judge.add(outputs); }));
  if (failure) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    set_outcome(body, *failure);
    body["holdout"] = to_string(Proof::kRefuted);
    return Record{.body = std::move(body)};
  }
  const bool future = lab.contract.accuracy.claim == Claim::kFutureData;
  const GateResult verdict =
      future ? judge.judge_holdout(alpha, sub_seed(lab.seed, "bootstrap")) : judge.judge_tuning();
  body["gate"] = to_json(verdict);
  set_outcome(body, status_of(verdict), verdict.message);
  body["holdout"] = to_string(proof_of(verdict.status));
  return Record{.body = std::move(body)};
}

// The opening is spent before anything is seen; the ledger gives the same run and nominee the same one again.
struct Spent {
  Opening opening;
  double alpha = 0;
};
Result<Spent> spend_opening(Lab& lab, const HoldoutSet& holdout, Ledger& ledger, const std::string& run_id, int nominee,
                            int turn) {
  const Opening opening = FIEL_TRY(ledger.open_holdout(holdout, run_id, lab.standing.at(nominee).digest));
  const double alpha = stats::holdout_alpha(1 - lab.contract.accuracy.confidence,
                                            {.nominee = turn, .opening = opening.number()});
  FIEL_TRY(lab.recorder.once(fmt::format("holdout/{}/opening", turn), "opening", [&]() -> Result<Record> {
    return Record{.body = {{"id", nominee}, {"opening", opening.number()}, {"alpha", alpha}}};
  }));
  return Spent{opening, alpha};
}

}  // namespace

Result<EveryProcess> look_at_this_set(Lab& lab, const HoldoutSet& holdout, Ledger& ledger, const std::string& run_id,
                                      int nominee, int turn) {
  const Spent spent = FIEL_TRY(spend_opening(lab, holdout, ledger, run_id, nominee, turn));
  const SampleSet& set = holdout.samples(spent.opening);
  auto reference = std::make_shared<const ReferenceStore>(FIEL_TRY(holdout_reference(lab, set)));
  return EveryProcess([&lab, &set, reference](Live& live) -> Result<std::optional<Unfaithful>> {
    Judge judge(lab.contract, set, *reference, lab.folder / "scratch", lab.cancel_fd);
    const auto failure = FIEL_TRY(infer_holdout(lab, live, set, [&](auto outputs) { return judge.add(outputs); }));
    if (failure) {
      FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      return std::optional(Unfaithful{status_of(*failure), failure->message});
    }
    const GateResult verdict = judge.judge_tuning();
    if (verdict.status == GateStatus::kAdmissible) return std::optional<Unfaithful>();
    return std::optional(Unfaithful{status_of(verdict), "on the hold-out in a confirming process: " + verdict.message});
  });
}

Result<ProofResult> confirm_accuracy(Lab& lab, const HoldoutSet& holdout, Ledger& ledger, const std::string& run_id,
                                     int nominee, int turn) {
  const Spent spent = FIEL_TRY(spend_opening(lab, holdout, ledger, run_id, nominee, turn));
  const Json body = FIEL_TRY(once_on_one_machine(lab, fmt::format("holdout/{}", turn), "holdout", [&] {
    return judge_holdout(lab, holdout, spent.opening, nominee, spent.alpha);
  }));
  return ProofResult{parse_proof(body["holdout"].get<std::string>()), body.value("reason", "")};
}

Result<> estimate_speedup(Lab& lab, int comparator, int winner) {
  for (int session = 1; session <= kEstimatingSessions; ++session) {
    FIEL_TRY(run_session(lab, fmt::format("estimate/{}", session), "estimate", {comparator, winner},
                         [&](Json& body, const SessionView& seen, std::vector<Live>&) -> Result<> {
      body["id"] = winner;
      if (seen.entries[1].log_ratio) body["log_ratio"] = *seen.entries[1].log_ratio;
      return {};
    }));
    lab.progress.step(fmt::format("session {} of {}", session, kEstimatingSessions));
  }
  return {};
}

}  // namespace fiel
