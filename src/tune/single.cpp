#include "tune/single.h"

#include <fmt/format.h>

#include <cmath>

#include "decide/judge_full.h"
#include "decide/session.h"
#include "decide/trial.h"
#include "stats/e_process.h"
#include "tune/anchors.h"

namespace fiel {

Result<bool> build_and_judge(Lab& lab, int id) {
  lab.progress.stage("build", to_string(lab.standing.at(id).route));
  FIEL_TRY(build_candidate(lab, id));
  if (!in_the_race(lab.standing.at(id).status)) return false;
  lab.progress.stage("judge", fmt::format("{} tuning samples", lab.tuning.get().samples.size()));
  FIEL_TRY(judge_on_tuning(lab, id));
  return in_the_race(lab.standing.at(id).status);
}

Result<> prepare_reference(Lab& lab, const BuildRoute& route) {
  lab.progress.stage("reference", "");
  const int id = FIEL_TRY(register_candidate(lab, route, {"reference"}));
  FIEL_TRY(build_candidate(lab, id));
  FIEL_TRY(check_reference_built(lab, id));
  return make_reference(lab, id);
}

namespace {

Result<CheckResult> check_parsed(Lab& lab, const BuildRoute& route) {
  FIEL_TRY(prepare_reference(lab, FIEL_TRY(reference_route(lab))));
  // A role, so that a twin of the reference is judged all the same.
  const int id = FIEL_TRY(register_candidate(lab, route, {"asked"}));
  return CheckResult{.id = id, .admissible = FIEL_TRY(build_and_judge(lab, id))};
}

}  // namespace

Result<CheckResult> check_route(Lab& lab, const std::string& text) {
  FIEL_TRY(meet_engines(lab));
  return check_parsed(lab, FIEL_TRY(parse_route(text, *lab.space)));
}

Result<CheckResult> check_baseline(Lab& lab) {
  FIEL_TRY(meet_engines(lab));
  return check_parsed(lab, FIEL_TRY(baseline_route(lab)));
}

Result<BenchResult> bench_route(Lab& lab, const std::string& text, int max_sessions) {
  FIEL_TRY(meet_engines(lab));
  const BuildRoute route = FIEL_TRY(parse_route(text, *lab.space));
  const BuildRoute usual = FIEL_TRY(baseline_route(lab));
  if (route == usual) {
    return fail(ErrorKind::kUsage, "the route is the baseline itself", "name another route, or set [target] baseline");
  }
  const CheckResult check = FIEL_TRY(check_parsed(lab, route));
  BenchResult result;
  result.baseline_route = to_string(usual);
  result.id = check.id;
  result.admissible = check.admissible;
  const int baseline = FIEL_TRY(register_candidate(lab, usual, {"baseline"}));
  result.baseline_admissible = FIEL_TRY(build_and_judge(lab, baseline));
  if (!result.admissible || !result.baseline_admissible) return result;
  stats::PairTest test(1 - lab.contract.speed_confidence);
  while (!test.confirmed() && test.sessions().all < max_sessions && test.can_confirm_within(max_sessions)) {
    const auto number = test.sessions().all + 1;
    lab.progress.stage("session", fmt::format("{} of at most {}", number, max_sessions));
    const auto view = FIEL_TRY(run_session(lab, fmt::format("bench/{}", number), "bench", {baseline, check.id}));
    if (view.entries[1].fallen) {
      return fail(ErrorKind::kDied, fmt::format("the route failed in a timed process: {}", view.entries[1].reason));
    }
    if (!view.entries[1].log_ratio) {
      return fail(ErrorKind::kEnvironment, "the machine is too busy: every round was rejected",
                  "stop what else runs here, then try again");
    }
    result.log_ratios.push_back(*view.entries[1].log_ratio);
    test.add_session(stats::session_is_won(result.log_ratios.back(), lab.contract.min_gain));
  }
  result.faster = test.confirmed();
  result.e_value = std::exp(test.log_e());
  return result;
}

}  // namespace fiel
