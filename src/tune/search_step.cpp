#include "tune/search_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/units.h"
#include "decide/judge_full.h"
#include "decide/session.h"
#include "decide/trial.h"
#include "decide/variants.h"
#include "journal/record.h"
#include "search/stop_rule.h"
#include "search/trial_costs.h"
#include "tune/anchors.h"
#include "tune/last_winner.h"

namespace fiel {
namespace {

constexpr double kGatesShare = 0.2;       // of the search's time, for the fastest variants so far to be judged in full
constexpr double kProcessesPerTrial = 4;  // to build, load, probe and screen costs about so many timed processes
constexpr std::size_t kAheadPerSeat = 2;      // one in hand and one that waits, so that a slow trial holds up nobody soon
constexpr int kMostPassedOver = 30;       // in a row, because the rest of the time can't pay them

// What was there before the search was not screened, but timed in one session together: ln(comparator / candidate) out of that.
std::map<int, double> anchor_log_ratios(const Lab& lab, int comparator) {
  const Json session = lab.recorder.journal().body("anchors").value_or(Json::object());
  std::map<int, double> ratios;
  for (const Json& entry : session.value("contenders", Json::array())) {
    if (ratios.empty()) ratios[entry.value("id", 0)] = 0;  // the first one is the session's own yardstick
    if (entry.contains("log_ratio")) ratios[entry.value("id", 0)] = entry.value("log_ratio", 0.0);
  }
  const auto own = ratios.find(comparator);
  if (own == ratios.end()) return {{comparator, 0.0}};
  const double yardstick = own->second;
  for (auto& [id, ratio] : ratios) ratio -= yardstick;
  return ratios;
}

Trial trial_of(const Lab& lab, int id, const std::map<int, double>& anchors) {
  const CandidateState& state = lab.standing.candidates.at(id);
  Trial trial{.route = state.route, .outcome = Trial::Outcome::kAdmissibleSoFar, .log_speedup = state.screen_log_ratio, .seconds = {}};
  if (const auto anchor = anchors.find(id); anchor != anchors.end()) trial.log_speedup = anchor->second;
  if (state.status == CandidateStatus::kDuplicate) return trial;  // its twin's result was told already
  if (!in_the_race(state.status)) {
    const bool judged = state.accuracy_margin_left.has_value() || state.status == CandidateStatus::kWrong ||
                        state.status == CandidateStatus::kWrongSlice || state.status == CandidateStatus::kNonFinite;
    trial.outcome = judged ? Trial::Outcome::kRejected : Trial::Outcome::kFailed;
  }
  return trial;
}

// The comparator's process that stays alive, asleep, to be screened against: one on each machine.
class Partner {
 public:
  Partner(Lab& lab, int comparator) : lab_(lab), comparator_(comparator) {}

  Result<Live*> get() {
    std::optional<Live>& live = live_[lab_.crew == nullptr ? 0 : lab_.crew->seat()];
    if (live && live->worker->alive()) return &*live;
    live.reset();
    auto started = start_live(lab_, comparator_);
    if (const auto* failure = std::get_if<Failure>(&started)) {
      FIEL_TRY(stop_if_not_its_fault(lab_, *failure));
      return fail(ErrorKind::kDied, "the comparator does not start any more: " + failure->message,
                  "see logs/ in the run folder; `fiel resume` tries again");
    }
    live = std::get<Live>(std::move(started));
    return &*live;
  }

 private:
  Lab& lab_;
  int comparator_;
  std::map<int, std::optional<Live>> live_;
};

// A route that was asked for, and what others of the crew make of it before its turn.
struct Asked {
  BuildRoute route;
  std::optional<Crew::Ticket> ticket = {};  // none: nothing is made ahead
  int id = 0;
  Outcome<std::filesystem::path> model = {};
  TriedAhead tried = {};
};

// Is this the fastest so far of what is admissible, and in another precision? Then what the search asks next hangs on whether it
// is accurate, and the probe can't tell.
bool leads_in_another_precision(const Lab& lab, int id) {
  const CandidateState& state = lab.standing.candidates.at(id);
  if (state.status != CandidateStatus::kTried || !state.screen_log_ratio || !(*state.screen_log_ratio > 0)) return false;
  if (!state.route.settings.contains(std::string(kVariantKnob))) return false;
  return std::ranges::none_of(lab.standing.candidates, [&](const auto& one) {
    return one.second.status == CandidateStatus::kAdmissible && one.second.screen_log_ratio.value_or(-1) >= *state.screen_log_ratio;
  });
}

// Adds up as the search goes on: all candidates again before each trial would grow with the square of their number.
class DiskUse {
 public:
  void add(const CandidateState& state) {
    if (state.artifact.empty() || !seen_.insert(state.artifact).second) return;
    sum_ += state.artifact_bytes;
    largest_ = std::max(largest_, state.artifact_bytes);
  }

  std::int64_t for_another(const Standing& standing) const {
    std::int64_t sum = sum_ + largest_, model = 0;
    for (const auto& [name, file] : standing.variant_bytes) {
      sum += file;
      model = std::max(model, file);
    }
    return sum + model;
  }

 private:
  std::set<std::string> seen_;
  std::int64_t sum_ = 0, largest_ = 0;
};

std::string trial_line(const CandidateState& state) {
  std::string how(to_string(state.status));
  if (state.screen_log_ratio) how = fmt::format("{:.2f} times as fast as the comparator at first sight (1 session)", std::exp(*state.screen_log_ratio));
  if (!state.reason.empty()) how += ": " + state.reason.substr(0, state.reason.find('\n'));
  return fmt::format("#{} {}: {}", state.id, to_string(state.route), how);
}

StopRule::Terms stop_terms(const SearchInput& in) {
  StopRule::Terms terms{.worth_seconds = {}, .min_gain = in.lab.contract.min_gain, .first_guess_seconds = in.first_guess_seconds};
  const Budget& budget = in.lab.contract.budget;
  const auto& latency = in.lab.standing.candidates.at(in.comparator).latency;
  if (!budget.executions || !latency || in.lab.contract.scenario == Scenario::kServer) return terms;
  const auto each = seconds_per_execution(*latency, to_string(in.lab.contract.scenario), to_string(in.lab.contract.objective));
  if (!each) return terms;
  terms.worth_seconds = worth_seconds({.executions = static_cast<double>(*budget.executions),
                                       .seconds_per_execution = *each,
                                       .serving_per_hour = budget.serving_cost_per_hour.value_or(1),
                                       .tuning_per_hour = budget.tuning_cost_per_hour.value_or(1)});
  return terms;
}

class Search {
 public:
  Search(const SearchInput& in, Space space, std::unique_ptr<Strategy> strategy)
      : in_(in), lab_(in.lab), space_(std::move(space)), strategy_(std::move(strategy)), partner_(in.lab, in.comparator),
        rule_(stop_terms(in)), costs_(in.first_guess_seconds), anchors_(anchor_log_ratios(in.lab, in.comparator)), began_(in.lab.recorder.spent_seconds()) {
    for (const auto& [id, state] : lab_.standing.candidates) disk_use_.add(state);
  }

  ~Search() {
    if (lab_.crew != nullptr) lab_.crew->clear();  // what is made ahead lies in asked_ahead_
    lab_.made_ahead.clear();
    lab_.builds_end_at_seconds.reset();
  }

  // Several routes are asked for ahead of what is told of the first of them, as many as the crew can have in hand: so what is
  // asked next hangs on what was told, and never on who was done first.
  Result<SearchEnd> run() {
    // A build that takes longer than was foreseen ends with the search's time, so that what is kept for the proof stays whole.
    lab_.builds_end_at_seconds = until();
    const auto start = FIEL_TRY(last_winner(lab_, in_.last_run, space_));
    if (start && !limit_reached()) FIEL_TRY(take(*start));
    std::optional<StopReason> stop;
    for (;;) {
      while (!stop && asked_ahead_.size() < window_) stop = FIEL_TRY(ask_one());
      if (asked_ahead_.empty()) break;
      FIEL_TRY(take_first());
    }
    FIEL_TRY(strategy_->trouble());
    FIEL_TRY(lab_.recorder.once("search/end", "search_end", [&]() -> Result<Record> {
      UniformDraws draws = strategy_->uniform_draws();
      std::vector<int> drawn;
      for (const BuildRoute& route : draws.asked) {
        const auto candidate = lab_.by_route.find(to_string(route));
        if (candidate == lab_.by_route.end()) ++draws.put_off;  // there was no time for it
        else drawn.push_back(candidate->second);
      }
      return Record{.body = {{"stop_reason", to_string(*stop)}, {"tried", tried_}, {"strategy", strategy_->name()}, {"space_size", space_.size()},
                             {"asked", asked_}, {"uniform_draws", drawn}, {"draws_put_off", draws.put_off}}};
    }));
    return SearchEnd{.tried = tried_, .stop = *stop};
  }

 private:
  Result<std::optional<StopReason>> ask_one() {
    if (const auto limit = limit_reached()) return limit;
    const auto route = strategy_->ask();
    const auto stop = route ? rule_.look(strategy_->outlook()) : StopReason::kExhausted;
    if (stop) return stop;
    if (!is_known(*route) && !can_pay(*route)) return ++passed_over_ >= kMostPassedOver ? std::optional(out_of_time()) : std::nullopt;
    passed_over_ = 0;
    asked_ahead_.push_back({.route = *route});
    if (lab_.crew != nullptr) FIEL_TRY(make_ahead(asked_ahead_.back()));
    return std::optional<StopReason>();
  }

  Result<> make_ahead(Asked& asked) {
    if (is_known(asked.route)) return {};
    asked.id = static_cast<int>(lab_.by_route.size()) + 1;
    for (const Asked& before : asked_ahead_) asked.id += &before != &asked && !is_known(before.route) ? 1 : 0;
    if (lab_.recorder.recorded(fmt::format("candidate/{}/build", asked.id))) return {};
    asked.model = FIEL_TRY(model_of(lab_, asked.route));
    asked.ticket = lab_.crew->begin([this, &asked] {
      return try_ahead(lab_, asked.id, asked.route, asked.model, [this] { return partner_.get(); }, asked.tried);
    });
    return {};
  }

  Result<> take_first() {
    Asked& first = asked_ahead_.front();
    if (first.ticket) {
      lab_.crew->wait(*first.ticket);
      for (auto& [what, made] : {std::pair("build", &first.tried.built.made), std::pair("probe", &first.tried.probed.made)}) {
        if (*made) lab_.made_ahead.insert_or_assign(fmt::format("candidate/{}/{}", first.id, what), *std::move(*made));
      }
    }
    FIEL_TRY(take(first.route));
    lab_.made_ahead.clear();  // of a candidate that was found to be another's twin
    asked_ahead_.pop_front();
    return {};
  }

  std::int64_t new_ones_ahead() const {
    return std::ranges::count_if(asked_ahead_, [&](const Asked& asked) { return !is_known(asked.route); });
  }

  bool is_known(const BuildRoute& route) const { return lab_.by_route.contains(to_string(route)); }

  double until() const {
    const auto own = lab_.contract.budget.phases.search_seconds;
    return own ? std::min(in_.until, began_ + *own) : in_.until;
  }

  StopReason out_of_time() const { return until() < in_.until ? StopReason::kPhaseLimit : StopReason::kBudget; }

  bool can_pay(const BuildRoute& route) const { return lab_.recorder.spent_seconds() + costs_.at_most_seconds(route) <= until(); }

  std::optional<StopReason> limit_reached() const {
    if (in_.candidates && tried_ + new_ones_ahead() >= *in_.candidates) return StopReason::kCandidates;
    if (const auto disk = lab_.contract.budget.disk_bytes; disk && disk_use_.for_another(lab_.standing) > *disk) return StopReason::kDisk;
    const double expected = tried_ > 0 ? spent_on_trials_ / static_cast<double>(tried_) : in_.first_guess_seconds;
    if (lab_.recorder.spent_seconds() + expected <= until()) return std::nullopt;
    return out_of_time();
  }

  // Tries a route, unless it was tried before, and tells the strategy.
  Result<> take(const BuildRoute& route) {
    const bool known = is_known(route);
    const double before = lab_.recorder.spent_seconds();
    const int id = FIEL_TRY(register_candidate(lab_, route, {}));
    ++asked_;
    Trial trial;
    if (!known) {
      FIEL_TRY(try_route(id));
      disk_use_.add(lab_.standing.at(id));
      FIEL_TRY(judge_a_leader(id));
      ++tried_;
      trial = trial_of(lab_, id, anchors_);
      trial.seconds = lab_.recorder.spent_seconds() - before;  // out of the journal: the same when the run is resumed
      spent_on_trials_ += *trial.seconds;
      lab_.progress.step(trial_line(lab_.standing.at(id)));
      lab_.progress.status(fmt::format("{} tried of {:.4g} routes", tried_, space_.size()));
    } else {
      trial = trial_of(lab_, id, anchors_);
    }
    costs_.tell(trial);
    rule_.tell(trial);
    strategy_->tell(trial);
    return {};
  }

  Result<> try_route(int id) {
    FIEL_TRY(build_candidate(lab_, id));
    if (lab_.standing.at(id).status != CandidateStatus::kTried) return {};
    const bool recorded = lab_.recorder.recorded(fmt::format("candidate/{}/probe", id));
    if (!recorded && lab_.recorder.spent_seconds() > until()) return {};  // built, but there is no time to look at it
    const auto partner = [this] { return partner_.get(); };
    auto probed = probe_candidate(lab_, id, partner);
    if (probed || probed.error().kind != ErrorKind::kDied) return probed;
    return probe_candidate(lab_, id, partner);  // the partner died: once more with a new one
  }

  Result<> judge_a_leader(int id) {
    const double limit = kGatesShare * (until() - began_);
    if (!leads_in_another_precision(lab_, id) || spent_on_gates_ + in_.gate_seconds >= limit) return {};
    const double began = lab_.recorder.spent_seconds();
    FIEL_TRY(judge_on_tuning(lab_, id));
    spent_on_gates_ += lab_.recorder.spent_seconds() - began;
    return {};
  }

  const SearchInput& in_;
  Lab& lab_;
  Space space_;
  std::unique_ptr<Strategy> strategy_;
  Partner partner_;
  StopRule rule_;
  TrialCosts costs_;
  DiskUse disk_use_;
  std::map<int, double> anchors_;
  double began_;
  std::size_t window_ = lab_.crew == nullptr ? 1 : kAheadPerSeat * static_cast<std::size_t>(lab_.crew->seats());
  std::deque<Asked> asked_ahead_ = {};
  std::int64_t tried_ = 0, asked_ = 0;
  int passed_over_ = 0;
  double spent_on_trials_ = 0, spent_on_gates_ = 0;
};

}  // namespace

std::int64_t disk_for_another(const Lab& lab) {
  DiskUse use;
  for (const auto& [id, state] : lab.standing.candidates) use.add(state);
  return use.for_another(lab.standing);
}

double first_guess_of_a_trial(const Costs& costs) { return kProcessesPerTrial * costs.session_seconds_per_process; }

Result<SearchEnd> search(const SearchInput& in) {
  Lab& lab = in.lab;
  Space space = *lab.space;
  if (!in.routes.empty()) space = FIEL_TRY(restrict_space(space, in.routes));
  const BuildRoute baseline = FIEL_TRY(baseline_route(lab));
  auto strategy = FIEL_TRY(make_strategy(in.strategy, space, baseline, sub_seed(lab.seed, "search")));
  lab.progress.stage("search", fmt::format("strategy {}, {:.4g} routes, until {} of {} are spent", strategy->name(), space.size(),
                                           format_duration(std::max(0.0, in.until)), format_duration(in.wall_seconds)));
  if (!lab.variants_note.empty()) lab.progress.step(lab.variants_note);
  return Search(in, std::move(space), std::move(strategy)).run();
}

}  // namespace fiel
