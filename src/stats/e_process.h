// Is the nominee faster, judged after every session, with one error budget for all looks?
//
// Knows wins and losses of sessions only. A session is one fresh pair of processes, started in an
// order drawn by coin; it is won if its median log-ratio exceeds ln(1 + min gain). If the two are
// exchangeable inside a session given the past, a win is at most a fair coin whatever drifts
// between sessions, and E below is a test martingale: by Ville's inequality it ever reaches 1/alpha
// with probability at most alpha. So looking after each session and stopping at will costs nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace fiel::stats {

/// One session's result: won only where ln(t_comparator/t_candidate) lies above ln(1 + min_gain).
/// Ties and NaN lose.
bool session_is_won(double log_ratio, double min_gain);

struct Sessions {
  std::int64_t won;
  std::int64_t all;
};

/// ln E_n, E_n = 2^(n+1) B(k+1, n-k+1) P(Bin(n+1, 1/2) <= k) with k wins in n sessions: the
/// likelihood ratio against a fair coin, averaged over all win chances from 1/2 to 1 (methodology
/// B2; the integral of 2 (2p)^k (2(1-p))^(n-k)). 7 of 7: E = 2^8/8 (1 - 2^-8) = 31.875.
double log_e_value(const Sessions& sessions);

/// Sessions that confirm if every one is won: 7 at alpha = 5 %, 8 at 2.5 %.
std::int64_t fewest_sessions_to_confirm(double alpha);

class PairTest {
 public:
  explicit PairTest(double alpha);

  /// Books one more session.
  void add_session(bool won);

  /// Of all sessions so far.
  double log_e() const;

  /// E reached 1/alpha at this look or at an earlier one; it stays so.
  bool confirmed() const { return confirmed_; }

  /// Sessions still missing if every one is won; 0 where confirmed.
  std::int64_t fewest_further_sessions() const;

  /// Whether it is or can still be confirmed when there will be `cap` sessions in all.
  bool can_confirm_within(std::int64_t cap) const;

  double alpha() const { return alpha_; }
  const Sessions& sessions() const { return sessions_; }

 private:
  double alpha_;
  Sessions sessions_{.won = 0, .all = 0};
  bool confirmed_ = false;
};

}  // namespace fiel::stats
