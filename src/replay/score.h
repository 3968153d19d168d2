// How good was a search, on a scale on which calculated random search is 0 and the optimum at once is 1? The published curve
// of Willemsen et al. 2024 (A methodology for comparing auto-tuning optimization algorithms).
//
// Random search of the N admissible values, sorted from worst to best, has after M draws the value at index
// round(M (N+1) / (M+1)); it needs ceil(i / (N+1-i)) draws to come to index i. A draw takes as long as all recorded
// configurations together, failures included, divided by N. Of N = 9 and M = 1 the index is 5: the median.
// The score is the mean over equidistant points of time of (random - found) / (random - optimum), from where random search
// has come half of the way from the median to the optimum to where it has come 96 % of it.
#pragma once

#include <span>
#include <vector>

#include "replay/recording.h"

namespace fiel {

/// The best admissible value from `seconds` on.
struct Improvement {
  double seconds;
  double value;
};

class Yardstick {
 public:
  explicit Yardstick(const Recording& recording);

  double optimum() const { return worst_to_best_.back(); }
  double worst() const { return worst_to_best_.front(); }
  double median() const { return worst_to_best_[worst_to_best_.size() / 2]; }
  double seconds_per_draw() const { return seconds_per_draw_; }
  double start_seconds() const { return start_seconds_; }
  double end_seconds() const { return end_seconds_; }

  /// Calculated random search; M need not be whole.
  double random_after(double draws) const;
  /// Fewest draws after which calculated random search is at `value` or better.
  double draws_to(double value) const;

  /// Before the first improvement the worst value counts.
  double score(std::span<const Improvement> improvements) const;

 private:
  double part_of_the_way(double part) const { return draws_to(optimum() + (median() - optimum()) * (1 - part)); }

  std::vector<double> worst_to_best_;
  double seconds_per_draw_ = 0;
  double start_seconds_ = 0;
  double end_seconds_ = 0;
};

}  // namespace fiel
