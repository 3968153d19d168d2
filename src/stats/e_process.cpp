#include "stats/e_process.h"

#include <cmath>
#include <numbers>

#include "base/result.h"
#include "stats/distributions.h"

namespace fiel::stats {

bool session_is_won(double log_ratio, double min_gain) { return log_ratio > std::log1p(min_gain); }

double log_e_value(const Sessions& sessions) {
  FIEL_CHECK(sessions.won >= 0 && sessions.won <= sessions.all);
  const auto k = static_cast<double>(sessions.won);
  const auto n = static_cast<double>(sessions.all);
  return (n + 1.0) * std::numbers::ln2 + log_beta(k + 1.0, n - k + 1.0) +
         std::log(binomial_cdf(k, n + 1.0, 0.5));
}

std::int64_t fewest_sessions_to_confirm(double alpha) {
  return PairTest(alpha).fewest_further_sessions();
}

PairTest::PairTest(double alpha) : alpha_(alpha) { FIEL_CHECK(alpha > 0.0 && alpha < 1.0); }

void PairTest::add_session(bool won) {
  sessions_.all += 1;
  if (won) sessions_.won += 1;
  if (log_e() >= -std::log(alpha_)) confirmed_ = true;
}

double PairTest::log_e() const { return log_e_value(sessions_); }

std::int64_t PairTest::fewest_further_sessions() const {
  // A win never lowers E, so the run of wins that is just long enough can be counted up to. Its
  // length is bounded: E doubles, but for a slowly falling factor, with each of them.
  if (confirmed_) return 0;
  Sessions hoped = sessions_;
  std::int64_t further = 0;
  do {
    hoped.won += 1;
    hoped.all += 1;
    further += 1;
  } while (!(log_e_value(hoped) >= -std::log(alpha_)));
  return further;
}

bool PairTest::can_confirm_within(std::int64_t cap) const {
  return confirmed_ || sessions_.all + fewest_further_sessions() <= cap;
}

}  // namespace fiel::stats
