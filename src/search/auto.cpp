// auto: a surrogate orders what comes next; before it knows anything, starts, a few balanced draws and one-off changes do.
//   1  the starts: the baseline, the other engines' defaults
//   2  draws that show as many new pairs of levels as they can. Where the start is any route of a recording and a draw beats it, it
//      knows nothing that chance doesn't know, and the model takes over soon; else
//   3  every other question is a change of one knob of the starts, in turns (decision 0016): each variant of the model, since one
//      says little of the next, then a first other value of each knob, until all were asked
//      Where a variant is not accurate enough, its ladder (route/knob.h) is halved until the first step that is; where it is and
//      pays, its first step and a middle one are asked too: what the proof can fall back upon
//   4  the candidate with the greatest log(expected improvement x P(admissible) / expected seconds): out of the whole space
//      where it is small, else of one- and two-knob changes of the best, kicks and chance draws
//   Throughout, every tenth question is drawn by chance; and every tenth shows pairs of levels that were not seen yet, as long as
//   there are any, so that a model that likes one corner knows the others. Values that stand in for others wait until those were rejected, or pay.
// Why, and what it costs: docs/decisions/0018-auto.md.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "route/sampler.h"
#include "search/expected_gain.h"
#include "search/features.h"
#include "search/strategies.h"
#include "search/surrogate.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kWholePool = 5000;       // routes; a larger space is sampled
constexpr std::size_t kDesignDraws = 3;   // before the starts are judged
constexpr std::size_t kDesignEvery = 10;  // after these, until each pair of levels was seen
constexpr std::size_t kFirstFit = 6;      // trials before the model is asked
constexpr std::size_t kRandomEvery = 10;
constexpr std::size_t kMostPoints = 256;  // that the model learns from
constexpr int kDrawsPerDesign = 100;

class Auto : public Strategy {
 public:
  Auto(const Space& space, const BuildRoute& baseline, std::uint64_t seed)
      : space_(space), features_(space_), sampler_(space_), rng_(seed), random_(make_random(space, sub_seed(seed, "chance"))),
        surrogate_(features_), starts_(starts(space_, baseline)), size_(space_.size()) {
    for (const BuildRoute& start : starts_) queue_.push_back(start);
    seen_pairs_.resize(features_.columns() * features_.columns());
  }
  Auto(const Auto&) = delete;  // features_ and sampler_ refer to space_
  Auto& operator=(const Auto&) = delete;

  std::string_view name() const override { return "auto"; }

  std::optional<BuildRoute> ask() override {
    auto route = next();
    if (!route) return std::nullopt;
    asked_.insert(*route);
    note_pairs(features_.levels_of(*route));
    return route;
  }

  void tell(const Trial& trial) override {
    if (!space_.validate(trial.route)) return;
    const bool is_new = trials_.emplace(trial.route, trial).second;
    if (!is_new) return;
    if (asked_.insert(trial.route).second) note_pairs(features_.levels_of(trial.route));  // a start from elsewhere
    tried_.push_back({features_.levels_of(trial.route), trial});
    descend(trial);
    if (trial.outcome != Trial::Outcome::kAdmissibleSoFar) ++bad_;
    if (trial.outcome == Trial::Outcome::kAdmissibleSoFar && trial.log_speedup) {
      const double time = -*trial.log_speedup;
      if (!best_ || time < *best_) best_ = time;
    }
    if (surrogate_.size() > 0) surrogate_.add(point_of(tried_.back()));
  }

  std::optional<double> planned() const override { return std::max(0.0, size_ - static_cast<double>(asked_.size())); }

  // A draw that the model had asked for already is as good a draw as any: its result is known.
  UniformDraws uniform_draws() const override {
    UniformDraws draws = random_->uniform_draws();
    draws.put_off = static_cast<std::int64_t>(std::erase_if(draws.asked, [this](const BuildRoute& route) { return !asked_.contains(route); }));
    return draws;
  }

  std::optional<Outlook> outlook() const override { return outlook_; }

 private:
  struct Tried {
    Levels levels;
    Trial trial;
  };

  std::optional<BuildRoute> next() {
    const std::size_t count = ++questions_;
    if (auto start = pop(queue_)) return start;
    if (count % kRandomEvery == 0) return by_chance();
    if (count % 2 == 0) {
      if (auto step = on_a_ladder()) return step;
      if (auto step = pop(fallbacks_)) return step;
    }
    if (design_asked_ < kDesignDraws) {
      if (auto route = designed()) return route;
    }
    if (!judged_) judge_starts();
    if (pairs_left_ && count % kDesignEvery == kDesignEvery / 2) {
      if (auto route = completing()) return route;
    }
    if (!one_offs_.empty() && count % 2 == 0) {
      if (auto change = pop(one_offs_)) return change;
    }
    if (tried_.size() < kFirstFit) {
      if (auto change = pop(one_offs_)) return change;
      if (auto route = designed()) return route;
      return by_chance();
    }
    if (auto route = modelled()) return route;
    return by_chance();
  }

  std::optional<BuildRoute> pop(std::deque<BuildRoute>& queue) {
    while (!queue.empty()) {
      BuildRoute route = std::move(queue.front());
      queue.pop_front();
      if (!asked_.contains(route)) return route;
    }
    return std::nullopt;
  }

  // Also what is no use by itself comes at the end: nothing is left out for ever.
  std::optional<BuildRoute> by_chance() {
    while (auto route = random_->ask()) {
      if (asked_.contains(*route)) continue;
      if (!waits(*route)) return route;
      waiting_.push_back(*std::move(route));
    }
    return pop(waiting_);
  }

  // --- stand-ins: as `mixed` treats them ------------------------------------------------------------

  // A route with stand-ins waits until the same with what they stand in for was rejected, or pays as a one-off.
  bool waits(const BuildRoute& route) const {
    BuildRoute original = route;
    for (const Knob& knob : space_.find_engine(route.engine)->knobs) {
      const auto set = route.settings.find(knob.name);
      if (set == route.settings.end()) continue;
      const auto found = knob.stand_ins.find(set->second);
      if (found == knob.stand_ins.end() || std::ranges::find(knob.values, found->second) == knob.values.end()) continue;
      original.settings[knob.name] = found->second;
    }
    if (original == route) return false;
    const auto twin = trials_.find(space_.canonical(std::move(original)));
    if (twin == trials_.end()) return true;
    if (twin->second.outcome == Trial::Outcome::kRejected) return false;
    if (twin->second.outcome == Trial::Outcome::kFailed || !twin->second.log_speedup) return true;
    const auto start = std::ranges::find(starts_, route.engine, &BuildRoute::engine);
    if (start == starts_.end() || route.settings.size() > start->settings.size() + 1) return true;
    const auto base = trials_.find(*start);
    return base == trials_.end() || !(*twin->second.log_speedup - base->second.log_speedup.value_or(0.0) > kLeastGain);
  }

  // --- first designs ---------------------------------------------------------------------------------

  void note_pairs(const Levels& levels) {
    for (std::size_t a = 0; a < levels.size(); ++a) {
      for (std::size_t b = a; b < levels.size(); ++b) seen_pairs_[a * levels.size() + b].insert(levels[a] * 256 + levels[b]);
    }
  }

  // Single levels count more often than pairs: they are seen first.
  double new_pairs(const Levels& levels) const {
    double fresh = 0;
    for (std::size_t a = 0; a < levels.size(); ++a) {
      for (std::size_t b = a; b < levels.size(); ++b) {
        if (!seen_pairs_[a * levels.size() + b].contains(levels[a] * 256 + levels[b])) fresh += a == b ? static_cast<double>(levels.size()) : 1.0;
      }
    }
    return fresh;
  }

  // Of some draws the one that shows most.
  std::optional<BuildRoute> best_of_draws(double& most) {
    std::optional<BuildRoute> best;
    for (int i = 0; i < kDrawsPerDesign; ++i) look_at(sampler_.draw(rng_), best, most);
    return best;
  }

  std::optional<BuildRoute> designed() {
    ++design_asked_;
    double most = -1;
    return best_of_draws(most);
  }

  // The same, changed one knob at a time as long as that shows more. Nothing where no pair is left to be shown.
  std::optional<BuildRoute> completing() {
    double most = -1;
    auto best = best_of_draws(most);
    for (bool better = best.has_value(); better;) {
      better = false;
      for (BuildRoute& change : space_.neighbours(*best)) better = look_at(std::move(change), best, most) || better;
    }
    pairs_left_ = most > 0;
    return pairs_left_ ? best : std::nullopt;
  }

  bool look_at(BuildRoute route, std::optional<BuildRoute>& best, double& most) const {
    if (asked_.contains(route) || waits(route)) return false;
    const double fresh = new_pairs(features_.levels_of(route));
    if (!(fresh > most)) return false;
    most = fresh;
    best = std::move(route);
    return true;
  }

  std::optional<double> speedup(const BuildRoute& route) const {
    const auto found = trials_.find(route);
    if (found == trials_.end() || found->second.outcome != Trial::Outcome::kAdmissibleSoFar) return std::nullopt;
    return found->second.log_speedup;
  }

  void judge_starts() {
    judged_ = true;
    std::optional<double> best;
    for (const BuildRoute& start : starts_) {
      if (const auto speed = speedup(start); speed && (!best || *speed > *best)) best = speed;
    }
    const bool entered_anywhere = space_.listed() != nullptr && std::ranges::none_of(starts_, [](const BuildRoute& start) { return start.settings.empty(); });
    if (entered_anywhere && (!best || !best_ || -*best_ > *best)) return;
    std::ranges::stable_sort(starts_, std::ranges::greater{}, [this](const BuildRoute& start) { return speedup(start).value_or(-1e9); });
    std::vector<std::vector<BuildRoute>> variants, firsts;
    for (const BuildRoute& start : starts_) {
      // A first other value of each knob: neighbours come in turns, so these are the first of each.
      std::set<std::string> knobs;
      variants.emplace_back();
      firsts.emplace_back();
      for (BuildRoute& change : space_.neighbours(start)) {
        if (waits(change)) continue;
        const Knob* knob = changed_knob(start, change);
        if (knob == nullptr) continue;
        if (knob->kind == KnobKind::kVariant) {
          variants.back().push_back(std::move(change));
        } else if (knobs.insert(knob->name).second) {
          firsts.back().push_back(std::move(change));
        }
      }
    }
    for (auto* changes : {&variants, &firsts}) {
      for (BuildRoute& change : in_turns(*changes)) one_offs_.push_back(std::move(change));
    }
  }

  const Knob* changed_knob(const BuildRoute& from, const BuildRoute& to) const {
    for (const Knob& knob : space_.find_engine(from.engine)->knobs) {
      if (setting_or(from, knob.name, knob.default_value) != setting_or(to, knob.name, knob.default_value)) return &knob;
    }
    return nullptr;
  }

  // --- ladders ---------------------------------------------------------------------------------------

  // Between the last step that was rejected and the first one that was not.
  struct Descent {
    BuildRoute start;
    const Knob* knob;
    const std::vector<std::string>* steps;
    std::size_t rejected, accepted;
  };

  // Only from the starts: what a step loses hardly depends on the other knobs.
  void descend(const Trial& trial) {
    for (const BuildRoute& start : starts_) {
      const Knob* knob = start.engine == trial.route.engine ? changed_knob(start, trial.route) : nullptr;
      if (knob == nullptr || trial.route.settings.size() > start.settings.size() + 1) continue;
      for (const auto& steps : knob->ladders) {
        const auto step = std::ranges::find(steps, setting_or(trial.route, knob->name, knob->default_value));
        if (step == steps.end()) continue;
        note_step({start, knob, &steps, 0, steps.size()}, static_cast<std::size_t>(step - steps.begin()), trial.outcome);
      }
    }
  }

  BuildRoute at_step(const Descent& descent, std::size_t step) const {
    BuildRoute route = descent.start;
    route.settings[descent.knob->name] = (*descent.steps)[step];
    return space_.canonical(std::move(route));
  }

  // Accurate on tuning data is not proven: the next step, which loses less, and one half way to the end may be the fastest that can be.
  void add_fallbacks(const Descent& descent, std::size_t step) {
    const auto speed = speedup(at_step(descent, step));
    const auto as_fast = [&](const BuildRoute& start) { return speedup(start) && *speed - *speedup(start) <= kLeastGain; };
    if (!speed || std::ranges::any_of(starts_, as_fast)) return;
    for (const std::size_t safer : {step + 1, (step + descent.steps->size()) / 2}) {
      if (safer >= descent.steps->size()) continue;
      BuildRoute route = at_step(descent, safer);
      if (space_.validate(route)) fallbacks_.push_back(std::move(route));
    }
  }

  void note_step(Descent fresh, std::size_t step, Trial::Outcome outcome) {
    const bool rejected = outcome == Trial::Outcome::kRejected;
    auto descent = std::ranges::find_if(descents_, [&](const Descent& one) { return one.start == fresh.start && one.steps == fresh.steps; });
    if (descent == descents_.end()) {
      if (step != 0) return;
      if (rejected) descents_.push_back(std::move(fresh));
      else add_fallbacks(fresh, step);
      return;
    }
    if (rejected) descent->rejected = std::max(descent->rejected, step);
    else descent->accepted = std::min(descent->accepted, step);
    if (descent->accepted == descent->rejected + 1 && descent->accepted < descent->steps->size()) add_fallbacks(*descent, descent->accepted);
  }

  std::optional<BuildRoute> on_a_ladder() {
    for (const Descent& descent : descents_) {
      const std::size_t middle = (descent.rejected + descent.accepted) / 2;
      if (middle <= descent.rejected) continue;
      BuildRoute route = at_step(descent, middle);
      if (!asked_.contains(route) && space_.validate(route)) return route;
    }
    return std::nullopt;
  }

  // --- the model ---------------------------------------------------------------------------------------

  // What failed has no time: it is taken to be as slow as the slow ones, so that its surroundings are no place to go.
  Surrogate::Point point_of(const Tried& tried) const {
    const auto& trial = tried.trial;
    double time = trial.log_speedup ? -*trial.log_speedup : slow_;
    time = std::min(time, ceiling_);
    return {tried.levels,
            {time, trial.outcome == Trial::Outcome::kAdmissibleSoFar ? 1.0 : 0.0, trial.seconds && *trial.seconds > 0 ? std::log(*trial.seconds) : usual_log_seconds_}};
  }

  void note_scales() {
    std::vector<double> times, seconds;
    for (const Tried& tried : tried_) {
      if (tried.trial.log_speedup) times.push_back(-*tried.trial.log_speedup);
      if (tried.trial.seconds && *tried.trial.seconds > 0) seconds.push_back(std::log(*tried.trial.seconds));
    }
    usual_log_seconds_ = seconds.empty() ? 0.0 : stats::median(seconds);
    if (times.empty()) return;
    const double low = *std::ranges::min_element(times), middle = stats::median(times);
    slow_ = stats::quantile_type7(times, 0.9);
    ceiling_ = middle + 2 * (middle - low) + 1e-3;
  }

  // The best, the latest and some by chance.
  std::vector<Surrogate::Point> points() {
    std::vector<std::size_t> order(tried_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > kMostPoints) {
      std::ranges::stable_sort(order, std::ranges::less{}, [&](std::size_t i) {
        const Trial& trial = tried_[i].trial;
        return trial.outcome == Trial::Outcome::kAdmissibleSoFar && trial.log_speedup ? -*trial.log_speedup : 1e9;
      });
      rng_.shuffle(std::span(order).subspan(kMostPoints / 2));
      order.resize(kMostPoints);
    }
    rng_.shuffle(std::span(order));  // weights are learned from the first ones
    std::vector<Surrogate::Point> points;
    for (const std::size_t i : order) points.push_back(point_of(tried_[i]));
    return points;
  }

  void add_to_pool(const BuildRoute& route, std::set<BuildRoute>& known) {
    if (asked_.contains(route) || !known.insert(route).second) return;
    pool_.push_back(route);
  }

  std::vector<const Tried*> best_tried(std::size_t most) const {
    std::vector<const Tried*> best;
    for (const Tried& tried : tried_) {
      if (tried.trial.outcome == Trial::Outcome::kAdmissibleSoFar && tried.trial.log_speedup) best.push_back(&tried);
    }
    const std::size_t kept = std::min(most, best.size());
    std::ranges::partial_sort(best, best.begin() + static_cast<std::ptrdiff_t>(kept),
                              [](const Tried* a, const Tried* b) { return *a->trial.log_speedup > *b->trial.log_speedup; });
    best.resize(kept);
    return best;
  }

  void renew_pool() {
    pool_.clear();
    if (size_ <= kWholePool) {
      space_.enumerate([&](const BuildRoute& route) {
        if (!asked_.contains(route)) pool_.push_back(route);
        return true;
      });
      return;
    }
    constexpr int kDraws = 500, kWalks = 100;
    std::set<BuildRoute> known;
    std::vector<BuildRoute> bases;
    for (const Tried* tried : best_tried(4)) bases.push_back(tried->trial.route);
    for (const BuildRoute& base : bases) {
      const auto ones = space_.neighbours(base);
      for (const BuildRoute& one : ones) add_to_pool(one, known);
      for (int walk = 0; walk < kWalks && !ones.empty(); ++walk) {  // two knobs, now and then more: a kick
        BuildRoute route = ones[static_cast<std::size_t>(rng_.below(ones.size()))];
        for (int step = 0; step < (walk % 4 == 3 ? 3 : 1); ++step) {
          const auto further = space_.neighbours(route);
          if (further.empty()) break;
          route = further[static_cast<std::size_t>(rng_.below(further.size()))];
        }
        add_to_pool(route, known);
      }
    }
    for (int i = 0; i < kDraws; ++i) add_to_pool(sampler_.draw(rng_), known);
  }

  void fit() {
    note_scales();
    renew_pool();
    std::vector<Levels> pool;
    for (const BuildRoute& route : pool_) pool.push_back(features_.levels_of(route));
    surrogate_.fit(points(), std::move(pool));
    fitted_at_ = tried_.size();
    best_at_fit_ = best_;
  }

  bool is_stale() const {
    if (surrogate_.size() == 0) return true;
    const std::size_t since = tried_.size() - fitted_at_;
    if (size_ > kWholePool && best_ != best_at_fit_ && since >= 3) return true;
    return since >= std::max<std::size_t>(2, std::min(fitted_at_, kMostPoints) / 3);
  }

  std::optional<BuildRoute> modelled() {
    if (is_stale()) fit();
    std::optional<std::size_t> chosen, greatest;
    double most = 0, most_anyhow = 0;
    const double best = best_ ? *best_ : slow_;
    // How sure one can be that something is out: the more failed, the surer.
    const double least = 0.1 / ((1 + bad_) * (1 + bad_));
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      const auto prediction = surrogate_.predict(i);
      const double admissible = std::clamp(prediction.mean[1], least, 1.0);
      const double anyhow = log_expected_improvement(best, {prediction.mean[0], prediction.deviation}) + std::log(admissible);
      const double worth = anyhow - prediction.mean[2];
      if (chosen && !(worth > most) && !(anyhow > most_anyhow)) continue;
      if (asked_.contains(pool_[i]) || waits(pool_[i])) continue;
      if (!chosen || anyhow > most_anyhow) {
        most_anyhow = anyhow;
        greatest = i;
      }
      if (!chosen || worth > most) {
        most = worth;
        chosen = i;
      }
    }
    if (!chosen) return std::nullopt;
    const auto share = [&](std::size_t i) {
      const auto prediction = surrogate_.predict(i);
      return expected_share(best, {prediction.mean[0], prediction.deviation}) * std::clamp(prediction.mean[1], least, 1.0);
    };
    outlook_ = Outlook{.share = share(*greatest),
                       .share_per_second = share(*chosen) / std::exp(surrogate_.predict(*chosen).mean[2]),
                       .trials = tried_.size(),
                       .every_knob_turned = one_offs_.empty()};
    return pool_[*chosen];
  }

  Space space_;
  Features features_;
  RouteSampler sampler_;
  Rng rng_;
  std::unique_ptr<Strategy> random_;
  Surrogate surrogate_;
  std::vector<BuildRoute> starts_;
  double size_;

  std::deque<BuildRoute> queue_, one_offs_, fallbacks_, waiting_;
  std::vector<Descent> descents_;  // they point into space_
  std::set<BuildRoute> asked_;
  std::map<BuildRoute, Trial> trials_;
  std::vector<Tried> tried_;
  std::vector<std::set<int>> seen_pairs_;
  std::vector<BuildRoute> pool_;
  std::optional<double> best_, best_at_fit_;  // log time
  std::optional<Outlook> outlook_;
  double slow_ = 0, ceiling_ = 1e9, usual_log_seconds_ = 0;
  double bad_ = 0;  // trials that failed or were rejected
  std::size_t questions_ = 0, design_asked_ = 0, fitted_at_ = 0;
  bool judged_ = false, pairs_left_ = true;
};

}  // namespace

std::unique_ptr<Strategy> make_auto(const Space& space, const BuildRoute& baseline,
                                    std::uint64_t seed) {
  return std::make_unique<Auto>(space, baseline, seed);
}

}  // namespace fiel
