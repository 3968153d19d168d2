#include "tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "decide/confirm.h"
#include "decide/consistency.h"
#include "decide/judge_full.h"
#include "decide/race.h"
#include "decide/session.h"
#include "journal/record.h"
#include "stats/e_process.h"
#include "stats/spending.h"
#include "tune/anchors.h"
#include "tune/search_step.h"

namespace fiel {
namespace {

// A screen is one session: a candidate that it shows this much slower is not worth a full judgement.
constexpr double kHopelessLogRatio = -0.03;

// What the steps hand on to each other; all of it comes out of records.
struct Pipeline {
  TuneInput& input;
  Lab& lab;
  Comparator comparator = {};
  Costs costs = {};
  BudgetPlan plan = {};
  std::vector<int> entrants = {};
  std::vector<int> nominees = {};
  SearchEnd search = {};
};

// What ships if nothing beats it: the comparator, as long as nothing was found against it.
std::optional<int> fallback(const Pipeline& p) {
  if (!p.comparator.admissible || !in_the_race(p.lab.standing.candidates.at(p.comparator.id).status)) return std::nullopt;
  return p.comparator.id;
}

using StepResult = Result<std::optional<Verdict>>;  // a verdict ends the run

// 1. Could the hold-out prove the contract at all, with zero losses? If not, no search is worth starting.
StepResult check_decidable(Pipeline& p) {
  const Json body = FIEL_TRY(p.lab.recorder.once("decidable", "decidable", [&]() -> Result<Record> {
    const int openings = FIEL_TRY(p.input.ledger.openings(p.input.holdout));
    const double alpha = first_alpha(p.lab.contract, openings);
    Json lines = Json::array();
    if (p.lab.contract.accuracy.claim == Claim::kFutureData) {
      for (const Undecidable& line : undecidable(p.lab.contract, p.input.holdout.units(), alpha)) {
        lines.push_back("hold-out, " + describe(line));
      }
    }
    return Record{.body = {{"openings", openings}, {"alpha", alpha}, {"undecidable", lines}}};
  }));
  if (body["undecidable"].empty()) return std::nullopt;
  Verdict verdict{.word = VerdictWord::kUndecided, .ships = {}, .winner = {},
                  .reason = fmt::format("this hold-out could not prove the contract for future data even with zero losses "
                                        "(confidence {:.4g}, opened {} times before)",
                                        1 - body["alpha"].get<double>(), body["openings"].get<int>()),
                  .missing = body["undecidable"].get<std::vector<std::string>>()};
  verdict.missing.push_back(
      "more hold-out samples, a wider max_drop, or claim = \"this_set\", whose verdict speaks of these samples only");
  return verdict;
}

// 2. The engines, the space, and everything that is there before the search.
StepResult judge_what_is_there(Pipeline& p) {
  p.lab.progress.stage("anchors", "the reference, the baseline, defaults and float32 routes, judged in full");
  FIEL_TRY(meet_engines(p.lab));
  FIEL_TRY(judge_anchors(p.lab));
  p.comparator = FIEL_TRY(choose_comparator(p.lab));
  return std::nullopt;
}

std::vector<std::string> what_the_budget_lacks(const Pipeline& p) {
  const Budget& budget = p.lab.contract.budget;
  std::vector<std::string> missing;
  const auto short_of = [](const std::optional<double>& limit, double least) { return limit && *limit < least; };
  if (p.plan.least_wall_seconds > p.input.wall_seconds) {
    missing.push_back(fmt::format("a budget of at least {}", format_duration(p.plan.least_wall_seconds)));
  }
  if (short_of(budget.phases.race_seconds, p.plan.least_race_seconds)) {
    missing.push_back(fmt::format("[budget.phases] race of at least {}", format_duration(p.plan.least_race_seconds)));
  }
  if (short_of(budget.phases.proof_seconds, p.plan.proof_seconds)) {
    missing.push_back(fmt::format("[budget.phases] proof of at least {}", format_duration(p.plan.proof_seconds)));
  }
  const std::int64_t bytes = disk_for_another(p.lab);
  if (budget.disk_bytes && bytes > *budget.disk_bytes) {
    missing.push_back(fmt::format("[budget] disk of at least {}", format_bytes(bytes)));
  }
  return missing;
}

// 3. The proof's share of the budget is set aside before the search may spend anything.
StepResult reserve_the_proof(Pipeline& p) {
  p.costs = costs_so_far(p.lab, p.comparator.id, p.input.holdout.size());
  const auto fewest = stats::fewest_sessions_to_confirm(stats::nominee_alpha(1 - p.lab.contract.speed_confidence, 1));
  const Budget& budget = p.lab.contract.budget;
  p.plan = plan_budget(p.costs, p.lab.recorder.spent_seconds(), p.input.wall_seconds, fewest, budget.phases);
  const std::vector<std::string> missing = what_the_budget_lacks(p);
  if (missing.empty()) return std::nullopt;
  const bool can_prove = p.plan.affordable;  // then it is disk space that is missing
  return Verdict{.word = VerdictWord::kUndecided,
                 .ships = fallback(p),
                 .winner = {},
                 .reason = can_prove ? fmt::format("the budget of {} of disk space holds no candidate besides what is there before the search",
                                                   format_bytes(budget.disk_bytes.value_or(0)))
                                     : fmt::format("the budget of {} can't pay a proof on this machine",
                                                   format_duration(p.input.wall_seconds)),
                 .missing = missing};
}

// 4. Ask, build, probe, screen, tell; until nothing is left to ask, or going on is not worth it, or the search's share is spent.
StepResult search_routes(Pipeline& p) {
  p.search = FIEL_TRY(search({.lab = p.lab,
                              .comparator = p.comparator.id,
                              .strategy = p.input.strategy,
                              .routes = p.input.routes,
                              .last_run = p.input.last_run,
                              .candidates = p.input.candidates,
                              .until = p.plan.search_until,
                              .wall_seconds = p.input.wall_seconds,
                              .gate_seconds = p.costs.gate_seconds,
                              .first_guess_seconds = first_guess_of_a_trial(p.costs)}));
  return std::nullopt;
}

// 5. The full tuning gate, fastest first, until the race is filled.
StepResult judge_fastest_first(Pipeline& p) {
  Lab& lab = p.lab;
  std::vector<int> queue;
  for (const auto& [id, state] : lab.standing.candidates) {
    if (id == p.comparator.id || !in_the_race(state.status)) continue;
    if (state.roles.empty() && state.screen_log_ratio.value_or(-1) > kHopelessLogRatio) queue.push_back(id);
    if (!state.roles.empty()) p.entrants.push_back(id);  // anchors have been judged
  }
  std::ranges::stable_sort(queue, [&](int a, int b) {
    return *lab.standing.at(a).screen_log_ratio > *lab.standing.at(b).screen_log_ratio;
  });
  std::vector<Finalist> fastest_first;
  for (const int id : queue) fastest_first.push_back({.id = id, .route = lab.standing.at(id).route});
  queue = twins_last(fastest_first);
  lab.progress.stage("gate", fmt::format("{} candidates look fast enough; up to {} are judged in full, fastest first",
                                         queue.size(), p.plan.entrants));
  const double own = lab.contract.budget.phases.gate_seconds.value_or(p.input.wall_seconds);
  const double until = std::min(lab.recorder.spent_seconds() + own, p.input.wall_seconds - p.plan.proof_seconds -
                                                                        kRaceSessions * 3 * p.costs.session_seconds_per_process);
  Ahead ahead(lab);
  std::size_t begun = 0;  // of the queue
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const int id = queue[i];
    const int places_left = p.plan.entrants - static_cast<int>(p.entrants.size());
    if (places_left <= 0) break;
    const std::string key = fmt::format("candidate/{}/gate", id);
    if (!lab.recorder.recorded(key) && lab.recorder.spent_seconds() + p.costs.gate_seconds > until) break;
    const auto at_once = static_cast<std::size_t>(lab.crew == nullptr ? 0 : std::min(lab.crew->seats(), places_left));
    for (; begun < std::min(queue.size(), i + at_once); ++begun) judge_ahead(lab, queue[begun], ahead);
    ahead.take(key);
    FIEL_TRY(judge_on_tuning(lab, id));
    const CandidateState& state = lab.standing.at(id);
    lab.progress.step(fmt::format("#{}: {}{}{}", id, to_string(state.status), state.reason.empty() ? "" : ", ",
                                  state.reason));
    if (in_the_race(state.status)) p.entrants.push_back(id);
  }
  return std::nullopt;
}

// Of the race, with what its nominees need after it.
TimeLeft time_for_another_session(const Pipeline& p) {
  const double began = p.lab.recorder.spent_seconds();
  const double one = (static_cast<double>(p.entrants.size()) + 1) * p.costs.session_seconds_per_process;
  const double after = p.plan.proof_seconds + p.costs.consistency_seconds * (1 + kMaxNominees);
  const double until = std::min(began + p.lab.contract.budget.phases.race_seconds.value_or(p.input.wall_seconds), p.input.wall_seconds - after);
  return [&recorder = p.lab.recorder, one, until] { return recorder.spent_seconds() + one <= until; };
}

// What is proven is proven pair by pair on one machine: the others are given back.
void give_back_other_machines(Lab& lab) {
  if (lab.crew != nullptr) lab.crew->dismiss();
}

// 6. The race: a ranking, equals, and at most three nominees.
StepResult race_entrants(Pipeline& p) {
  RaceResult result;
  give_back_other_machines(p.lab);
  if (!p.entrants.empty() || p.lab.contract.limits.latency_p99_seconds) {
    p.lab.progress.stage("race", fmt::format("{} candidates against the comparator, {} sessions", p.entrants.size(),
                                             kRaceSessions));
    result = FIEL_TRY(race(p.lab, p.comparator.id, p.entrants, time_for_another_session(p)));
    p.nominees = result.nominees;
  }
  if (!p.nominees.empty()) return std::nullopt;
  if (p.search.tried == 0 && p.search.stop == StopReason::kBudget && fallback(p)) {
    return Verdict{.word = VerdictWord::kUndecided, .ships = fallback(p), .winner = {},
                   .reason = fmt::format("the budget of {} ended before a single candidate was tried",
                                         format_duration(p.input.wall_seconds)),
                   .missing = {fmt::format("a budget of at least {}",
                                           format_duration(p.plan.least_wall_seconds +
                                                           20 * first_guess_of_a_trial(p.costs)))}};
  }
  if (too_noisy(result.rounds, result.rejected_rounds)) {
    return Verdict{.word = VerdictWord::kUndecided,
                   .ships = fallback(p), .winner = {},
                   .reason = fmt::format("noise: {} of {} rounds of the race were rejected, since others used the machine",
                                         result.rejected_rounds, result.rounds),
                   .missing = {"a quiet machine: stop what else runs here, then start again"}};
  }
  Verdict verdict{.word = fallback(p) ? VerdictWord::kNotImproved : VerdictWord::kInfeasible,
                  .ships = fallback(p), .winner = {},
                  .reason = {}, .missing = {}};
  verdict.reason = fallback(p)
                       ? fmt::format("no admissible candidate was more than {:.3g} % faster than the comparator in the race",
                                     100 * p.lab.contract.min_gain)
                       : "no candidate meets the contract";
  return verdict;
}

// 7. What may ship answers the same when asked again, wherever a sample stands.
StepResult check_finalists(Pipeline& p) {
  std::vector<int> finalists = p.nominees;
  if (p.comparator.admissible) finalists.push_back(p.comparator.id);
  p.lab.progress.stage("consistency", fmt::format("{} finalists are asked again, and in another order", finalists.size()));
  for (const int id : finalists) {
    if (!in_the_race(p.lab.standing.at(id).status)) continue;
    FIEL_TRY(check_consistency(p.lab, id));
    const CandidateState& state = p.lab.standing.at(id);
    if (!in_the_race(state.status)) p.lab.progress.step(fmt::format("#{}: {}, {}", id, to_string(state.status), state.reason));
  }
  return std::nullopt;
}

// 8. The proof, nominee by nominee, in the order that the journal has held since the race ended.
StepResult prove(Pipeline& p) {
  Lab& lab = p.lab;
  const double tail = 2 * p.costs.session_seconds_per_process * (kEstimatingSessions + 1) + 2 * p.costs.holdout_seconds;
  const double until = std::min(p.input.wall_seconds, lab.recorder.spent_seconds() + lab.contract.budget.phases.proof_seconds.value_or(p.input.wall_seconds));
  const TimeLeft time_left = [&] { return lab.recorder.spent_seconds() + tail <= until; };
  std::vector<std::string> missing, lost;
  for (std::size_t i = 0; i < p.nominees.size(); ++i) {
    const int nominee = p.nominees[i];
    const int turn = static_cast<int>(i) + 1;
    if (const CandidateState& state = lab.standing.at(nominee); !in_the_race(state.status)) {
      lost.push_back(fmt::format("#{}: {}", nominee, state.reason));
      continue;
    }
    lab.progress.stage("confirm", fmt::format("nominee {} of {}: #{} {}", turn, p.nominees.size(), nominee,
                                              to_string(lab.standing.at(nominee).route)));
    EveryProcess look;
    if (lab.contract.accuracy.claim == Claim::kThisSet) {
      look = FIEL_TRY(look_at_this_set(lab, p.input.holdout, p.input.ledger, p.input.run_id, nominee, turn));
    }
    const ProofResult speed = FIEL_TRY(confirm_speed(lab, p.comparator.id, nominee, turn, time_left, look));
    lab.progress.step(fmt::format("speed: {} ({})", to_string(speed.proof), speed.message));
    if (speed.proof == Proof::kUndecided) missing.push_back(fmt::format("#{} speed: {}", nominee, speed.message));
    if (speed.proof == Proof::kRefuted) lost.push_back(fmt::format("#{} speed: {}", nominee, speed.message));
    if (speed.proof != Proof::kProven) continue;
    lab.progress.stage("hold-out", fmt::format("#{} on {} samples it has never seen", nominee, p.input.holdout.size()));
    const ProofResult accuracy =
        FIEL_TRY(confirm_accuracy(lab, p.input.holdout, p.input.ledger, p.input.run_id, nominee, turn));
    lab.progress.step(fmt::format("accuracy: {}{}{}", to_string(accuracy.proof), accuracy.message.empty() ? "" : ", ",
                                  accuracy.message));
    if (accuracy.proof == Proof::kUndecided) missing.push_back(fmt::format("#{} accuracy: {}", nominee, accuracy.message));
    if (accuracy.proof == Proof::kRefuted) lost.push_back(fmt::format("#{} accuracy: {}", nominee, accuracy.message));
    if (accuracy.proof != Proof::kProven) continue;
    lab.progress.stage("estimate", fmt::format("{} further sessions for the speed-up", kEstimatingSessions));
    FIEL_TRY(estimate_speedup(lab, p.comparator.id, nominee));
    const CandidateState& state = lab.standing.at(nominee);
    if (in_the_race(state.status)) {
      FIEL_TRY(check_artifact(lab, state.artifact));  // what ships is what was measured
      return Verdict{.word = VerdictWord::kImproved, .ships = nominee, .winner = nominee,
                     .reason = fmt::format("#{} is proven faster ({}) and accurate on the hold-out", nominee, speed.message),
                     .missing = {}};
    }
    lost.push_back(fmt::format("#{} fell after its win: {}", nominee, state.reason));
  }
  const auto ships = fallback(p);
  if (!missing.empty()) {
    return Verdict{.word = VerdictWord::kUndecided, .ships = ships, .winner = {},
                   .reason = "a nominee still satisfies the contract by its estimates, but the proof is not complete",
                   .missing = missing};
  }
  return Verdict{.word = ships ? VerdictWord::kNotImproved : VerdictWord::kInfeasible, .ships = ships, .winner = {},
                 .reason = fmt::format("all nominees lost: {}", fmt::join(lost, "; ")), .missing = {}};
}

}  // namespace

double first_alpha(const Contract& contract, int openings) {
  return stats::holdout_alpha(1 - contract.accuracy.confidence, {.nominee = 1, .opening = openings + 1});
}

Result<Verdict> tune(TuneInput& input) {
  Pipeline pipeline{.input = input, .lab = input.lab};
  input.lab.progress.budget({.spent_seconds = input.lab.recorder.live_seconds(), .wall_seconds = input.wall_seconds});
  using Step = StepResult (*)(Pipeline&);
  constexpr Step kSteps[] = {
      check_decidable,      // or say how many samples it would take
      judge_what_is_there,  // reference, baseline, defaults
      reserve_the_proof,    // or say what budget it would take
      search_routes,        // build, probe, screen
      judge_fastest_first,  // full tuning gate
      race_entrants,        // ranking and nominees
      check_finalists,      // the same answer again
      prove,                // fresh processes, then the hold-out, once
  };
  for (const Step step : kSteps) {
    auto verdict = FIEL_TRY(step(pipeline));
    if (verdict) return record_verdict(input.lab, *verdict);
  }
  FIEL_CHECK(false && "the last step always decides");
  return fail(ErrorKind::kUsage, "unreachable");
}

}  // namespace fiel
