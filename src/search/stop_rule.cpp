#include "search/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fiel {
namespace {

constexpr double kFirstShare = 0.3;
constexpr std::size_t kFirstTrials = 6;  // as many as a model needs
constexpr double kPlateauPart = 0.1;
constexpr int kFlatLooks = 10;
constexpr std::size_t kFewestTrials = 20;

}  // namespace

double worth_seconds(const Prices& prices) {
  if (prices.tuning_per_hour <= 0) return std::numeric_limits<double>::infinity();
  return prices.executions * prices.seconds_per_execution * prices.serving_per_hour / prices.tuning_per_hour;
}

// By how much the best is ahead of the second, as a share of its own time.
double StopRule::lead() const { return best_ && second_ ? std::expm1(*second_ - *best_) : kFirstShare; }

// Chance gives lead / (n + 1) a trial, and a trial costs what all n took together with a first guess, over n + 1.
bool StopRule::is_worth_it(double worth, const std::optional<Outlook>& outlook) const {
  const double share = !outlook && trials_ < kFirstTrials ? kFirstShare : lead();
  const double by_chance = share / (seconds_ + terms_.first_guess_seconds);
  const double share_per_second = std::max(by_chance, outlook ? outlook->share_per_second : 0.0);
  return worth * std::exp(best_.value_or(0.0)) * share_per_second > 1;
}

bool StopRule::is_flat(const Outlook& outlook) const {
  if (!outlook.every_knob_turned || trials_ < kFewestTrials) return false;
  const double by_chance = lead() / static_cast<double>(trials_ + 1);
  return std::max(outlook.share, by_chance) < kPlateauPart * terms_.min_gain;
}

std::optional<StopReason> StopRule::look(const std::optional<Outlook>& outlook) {
  const bool is_new = outlook && outlook->trials != seen_;  // the model is not asked for each trial
  if (is_new) seen_ = outlook->trials;
  if (terms_.worth_seconds) {
    if (outlook && !is_new) return std::nullopt;
    return is_worth_it(*terms_.worth_seconds, outlook) ? std::nullopt : std::optional(StopReason::kBreakEven);
  }
  if (!is_new) return std::nullopt;
  flat_looks_ = is_flat(*outlook) ? flat_looks_ + 1 : 0;
  const bool is_long_ago = 2 * gained_at_ <= trials_;
  return flat_looks_ >= kFlatLooks && is_long_ago ? std::optional(StopReason::kPlateau) : std::nullopt;
}

void StopRule::tell(const Trial& trial) {
  if (trial.seconds) {  // one that was known before costs nothing and counts as none
    seconds_ += *trial.seconds;
    ++trials_;
  }
  if (trial.outcome != Trial::Outcome::kAdmissibleSoFar || !trial.log_speedup) return;
  const double time = -*trial.log_speedup;
  if (!best_ || time < *best_) {
    second_ = best_;
    best_ = time;
  } else if (time > *best_ && (!second_ || time < *second_)) {
    second_ = time;
  }
  if (!mark_ || time < *mark_ - std::log1p(terms_.min_gain)) {
    mark_ = time;
    gained_at_ = trials_;
  }
}

}  // namespace fiel
