#include "tune/examine.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "decide/holdout_pass.h"
#include "decide/judge_full.h"
#include "decide/session.h"
#include "decide/trial.h"
#include "report/fields.h"
#include "tune/anchors.h"
#include "tune/bundle_environment.h"
#include "tune/single.h"

namespace fiel {
namespace {

constexpr int kSpareSessions = 4;  // may replace those whose rounds were all rejected

// Another model or other data would answer another question.
Result<> check_same_question(const Json& bundle, const OneOffWithHoldout& all) {
  const Json& sealed = fields::member(bundle, "digests");
  const Contract& contract = all.one.ground().contract;
  const auto same = [&](const char* key, const std::string& what, const std::string& digest) -> Result<> {
    const std::string then = fields::text(sealed, key);
    if (then.empty() || then == digest) return {};
    return fail(ErrorKind::kContract, fmt::format("{} is not the one that the bundle was made from", what),
                "name the old one (--contract, --model, --data), or tune again with the new one");
  };
  const std::string data = contract.data.empty() ? std::string() : contract.data.string();
  FIEL_TRY(same("model", contract.model.string(), all.one.ground().model.digest));
  FIEL_TRY(same("tuning", "the tuning set " + (data.empty() ? contract.tuning.string() : data),
                all.one.ground().tuning.get().digest));
  return same("holdout", "the hold-out " + (data.empty() ? contract.holdout.string() : data), all.holdout.digest());
}

Result<BuildRoute> route_at(const Lab& lab, const Json& bundle, const char* key) {
  const std::string text = fields::text(fields::member(bundle, key), "route");
  if (text.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("the bundle does not say what its {} was", key),
                "it was written by an older fiel: `fiel export` writes it anew from its run");
  }
  auto route = parse_route(text, *lab.space);
  if (!route) return std::unexpected(std::move(route).error().with_context(fmt::format("the {}'s route", key)));
  return route;
}

class Examiner {
 public:
  Examiner(Lab& lab, Verification& all, const Json& bundle, std::filesystem::path folder)
      : lab_(lab), all_(all), bundle_(bundle), folder_(std::move(folder)) {}

  Result<> examine(const RegressionSet& holdout) {
    FIEL_TRY(meet_engines(lab_, VariantUse::kNamed));
    FIEL_TRY(prepare_reference(lab_, FIEL_TRY(route_at(lab_, bundle_, "reference"))));
    const BuildRoute route = FIEL_TRY(route_at(lab_, bundle_, "candidate"));
    const Adopted built{.artifact = folder_ / "artifact", .digest = fields::text(fields::member(bundle_, "digests"), "artifact")};
    id_ = FIEL_TRY(adopt_candidate(lab_, route, built));
    FIEL_TRY(look_at_accuracy(holdout));
    return look_at_speed();
  }

 private:
  Result<> look_at_accuracy(const RegressionSet& holdout);
  Result<> look_at_speed();
  Result<bool> run_sessions(int comparator);
  void conclude_speed();
  void fail_accuracy(const std::string& message) {
    all_.accuracy.word = CheckWord::kFailed;
    all_.accuracy.message = message;
  }

  Lab& lab_;
  Verification& all_;
  const Json& bundle_;
  std::filesystem::path folder_;
  int id_ = 0;
};

Result<> Examiner::look_at_accuracy(const RegressionSet& holdout) {
  lab_.progress.stage("tuning data", fmt::format("{} samples, point estimates", lab_.tuning.get().samples.size()));
  FIEL_TRY(judge_on_tuning(lab_, id_));
  const CandidateState& state = lab_.standing.at(id_);
  const Json gate = FIEL_TRY(lab_.recorder.journal().body(fmt::format("candidate/{}/gate", id_)));
  if (gate.contains("gate")) all_.tuning = FIEL_TRY(gate_result_from_json(gate["gate"]));
  const auto acts = effective_differences(bundle_, fields::member(gate, "effective"));
  if (!acts.empty()) {
    all_.environment.word = CheckWord::kFailed;
    all_.environment.message = "the engine does not run it as it did when it was measured";
    all_.environment.details.insert(all_.environment.details.end(), acts.begin(), acts.end());
  }
  if (!in_the_race(state.status)) {
    fail_accuracy(fmt::format("on the tuning data: {}: {}", to_string(state.status), state.reason));
    return {};
  }
  lab_.progress.stage("hold-out", fmt::format("{} samples, {}", holdout.get().samples.size(), kRegressionWords));
  auto judged = FIEL_TRY(judge_regression(lab_, holdout, id_));
  if (const auto* failure = std::get_if<Failure>(&judged)) {
    fail_accuracy(fmt::format("on the hold-out: {}", failure->message));
    return {};
  }
  all_.holdout = std::get<GateResult>(std::move(judged));
  if (all_.holdout->status != GateStatus::kAdmissible) {
    fail_accuracy(fmt::format("on the hold-out: {}", all_.holdout->message));
    return {};
  }
  all_.accuracy.word = CheckWord::kPassed;
  all_.accuracy.message = fmt::format("inside the contract's margins by point estimates on {} tuning and {} hold-out samples",
                                      lab_.tuning.get().samples.size(), holdout.get().samples.size());
  return {};
}

Result<> Examiner::look_at_speed() {
  if (all_.accuracy.word != CheckWord::kPassed) {
    all_.speed.message = "not timed: the time of a wrong answer means nothing";
    return {};
  }
  if (!all_.sealed_speed) {
    all_.speed.message = "not timed: no speed-up was proven of it, so there is none to lose";
    return {};
  }
  const int comparator = FIEL_TRY(register_candidate(lab_, FIEL_TRY(route_at(lab_, bundle_, "comparator")), {"comparator"}));
  if (!FIEL_TRY(build_and_judge(lab_, comparator))) {
    const CandidateState& state = lab_.standing.at(comparator);
    all_.speed.details.push_back(fmt::format("the {} itself is outside the contract here: {}: {}", all_.sealed_speed->role,
                                             to_string(state.status), state.reason));
    if (state.artifact.empty()) {
      all_.speed.word = CheckWord::kUndecided;
      all_.speed.message = fmt::format("not timed: the {} does not build any more", all_.sealed_speed->role);
      return {};
    }
  }
  if (FIEL_TRY(run_sessions(comparator))) conclude_speed();
  return {};
}

// False: the artifact failed or answered otherwise in a timed process, and that is told.
Result<bool> Examiner::run_sessions(int comparator) {
  constexpr int kMost = static_cast<int>(stats::kRegressionSessions) + kSpareSessions;
  for (int number = 1; number <= kMost && std::ssize(all_.log_ratios) < stats::kRegressionSessions; ++number) {
    lab_.progress.stage("session", fmt::format("{} of {} fresh process pairs", all_.log_ratios.size() + 1,
                                               stats::kRegressionSessions));
    const auto view = FIEL_TRY(run_session(lab_, fmt::format("verify/{}", number), "verify", {comparator, id_}));
    const SessionEntry& entry = view.entries[1];
    if (entry.fallen) {
      fail_accuracy(fmt::format("in a timed process: {}: {}", to_string(*entry.fallen), entry.reason));
      all_.speed.message = fmt::format("not decided: it failed in session {}", number);
      return false;
    }
    if (entry.log_ratio) all_.log_ratios.push_back(*entry.log_ratio);
  }
  return true;
}

void Examiner::conclude_speed() {
  all_.speed_now = stats::judge_speed_regression(all_.log_ratios, lab_.contract.min_gain);
  const std::string won = fmt::format("{} of {} sessions were more than {:.3g} % faster than the {}", all_.speed_now.won,
                                      all_.log_ratios.size(), 100 * lab_.contract.min_gain, all_.sealed_speed->role);
  switch (all_.speed_now.word) {
    case stats::StillFaster::kYes:
      all_.speed.word = CheckWord::kPassed;
      all_.speed.message = "still faster: " + won;
      break;
    case stats::StillFaster::kDoubtful:
      all_.speed.word = CheckWord::kPassed;
      all_.speed.message = fmt::format("doubtful, no alarm: only {}; look again on a quiet machine", won);
      break;
    case stats::StillFaster::kNo:
      all_.speed.word = CheckWord::kFailed;
      all_.speed.message = fmt::format("not faster any more: only {}", won);
      break;
    case stats::StillFaster::kUnknown:
      all_.speed.word = CheckWord::kUndecided;
      all_.speed.message = fmt::format("noise: only {} of {} sessions could be used, since others used the machine",
                                       all_.log_ratios.size(), stats::kRegressionSessions);
      break;
  }
}

}  // namespace

Result<> examine_bundle(OneOffWithHoldout workshop, const std::filesystem::path& folder, Verification& all) {
  const Json bundle = fields::parsed(all.bundle_json);
  FIEL_TRY(check_same_question(bundle, workshop));
  const RegressionSet holdout(std::move(workshop.holdout));
  return Examiner(workshop.one.lab(), all, bundle, folder).examine(holdout);
}

}  // namespace fiel
