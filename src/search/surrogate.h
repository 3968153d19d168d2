// What would an untried route cost, how sure is that, and would it be admissible? A Gaussian process over features: the
// covariance of two routes is exp(-sum over columns of weight * distance), so that columns with a small weight act by
// themselves and together, to all orders, and those with a large one make routes strangers. Weights and the share of noise
// maximise the marginal likelihood. One factorisation serves three targets: log time, admissible or not, log seconds spent.
//
// A pool of candidates is kept up to date: one more trial costs (trials in use) x (pool) steps; trials in use are capped, so
// that a proposal takes about the same time after 20,000 trials as after 300.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "search/features.h"

namespace fiel {

class Surrogate {
 public:
  static constexpr std::size_t kTargets = 3;
  using Targets = std::array<double, kTargets>;
  struct Point {
    Levels levels;
    Targets targets;
  };
  struct Prediction {
    Targets mean;
    double deviation = 0;  // of target 0
  };

  explicit Surrogate(const Features& features);

  /// Learns the weights from these points and starts anew with them and this pool.
  void fit(std::span<const Point> points, std::vector<Levels> pool);
  void add(const Point& point);

  std::size_t size() const { return points_.size(); }
  const std::vector<Levels>& pool() const { return pool_; }
  Prediction predict(std::size_t pool_index) const;

 private:
  void learn_weights(std::span<const Point> points);
  double likelihood(std::span<const float> exponent, std::span<const double> values, double noise);
  float covariance(const Levels& a, const Levels& b) const;

  const Features* features_;
  std::vector<float> weights_;
  double noise_ = 1e-2;
  std::vector<std::vector<float>> decay_;  // per column and pair of levels: weight * distance

  std::vector<Point> points_;
  std::vector<std::vector<float>> rows_;   // of the lower triangular factor L
  std::vector<std::vector<float>> cross_;  // L^-1 K(points, pool), a row for each point
  std::vector<Targets> solved_;            // L^-1 y
  std::vector<double> solved_ones_;        // L^-1 1
  std::vector<Levels> pool_;
  std::array<std::vector<double>, kTargets> sums_;  // cross^T solved, per candidate
  std::vector<double> sum_ones_, sum_squares_;
  Targets means_{};
  double variance_ = 1;
  void update_means();
};

}  // namespace fiel
