#include "search/surrogate.h"

#include <algorithm>
#include <cmath>

namespace fiel {
namespace {

// Steps of a weight: exp(-weight) is the correlation of two routes that differ in this column alone.
constexpr std::array<float, 8> kWeights = {0.01F, 0.03F, 0.08F, 0.2F, 0.5F, 1.0F, 2.0F, 4.0F};
constexpr std::size_t kFirstWeight = 3;
constexpr std::array<double, 4> kNoises = {1e-4, 1e-3, 1e-2, 1e-1};
constexpr double kPriorSteps = 2.5;     // standard deviation of a weight's prior, in steps
constexpr std::size_t kMostLearned = 120;  // points that weights are learned from
constexpr std::size_t kFewPoints = 60;     // with these, weights are learned in three sweeps: it costs little and they are far off yet
constexpr double kLeastPivot = 1e-6;

}  // namespace

Surrogate::Surrogate(const Features& features)
    : features_(&features), weights_(features.columns(), kWeights[kFirstWeight]), decay_(features.columns()) {}

float Surrogate::covariance(const Levels& a, const Levels& b) const {
  float exponent = 0;
  for (std::size_t column = 0; column < a.size(); ++column) {
    exponent += decay_[column][a[column] * features_->levels(column) + b[column]];
  }
  return std::exp(-exponent);
}

// Log marginal likelihood with mean and variance at their best values, up to a constant.
double Surrogate::likelihood(std::span<const float> exponent, std::span<const double> values, double noise) {
  const std::size_t n = values.size();
  std::vector<double> factor(n * n), ones(n), solved(n);
  double log_pivots = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double one = 1, value = values[i];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = std::exp(-static_cast<double>(exponent[i * n + j])) + (i == j ? noise : 0.0);
      const double *left = &factor[i * n], *right = &factor[j * n];
      for (std::size_t k = 0; k < j; ++k) sum -= left[k] * right[k];
      factor[i * n + j] = i == j ? std::sqrt(std::max(sum, kLeastPivot)) : sum / right[j];
      if (j < i) {
        one -= factor[i * n + j] * ones[j];
        value -= factor[i * n + j] * solved[j];
      }
    }
    const double pivot = factor[i * n + i];
    ones[i] = one / pivot;
    solved[i] = value / pivot;
    log_pivots += std::log(pivot);
  }
  double ones_ones = 0, ones_values = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ones_ones += ones[i] * ones[i];
    ones_values += ones[i] * solved[i];
  }
  const double mean = ones_values / ones_ones;
  double squares = 1e-12;
  for (std::size_t i = 0; i < n; ++i) squares += (solved[i] - mean * ones[i]) * (solved[i] - mean * ones[i]);
  const auto count = static_cast<double>(n);
  return -0.5 * count * std::log(squares / count) - log_pivots;
}

// One sweep over the columns, a step up or down each, then the noise: weights follow the data from fit to fit.
void Surrogate::learn_weights(std::span<const Point> points) {
  const std::size_t n = std::min(points.size(), kMostLearned);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(points[i].targets[0]);
  std::vector<float> exponent(n * n, 0.0F), changed(n * n);
  const auto add = [&](std::vector<float>& sums, std::size_t column, float weight) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        sums[i * n + j] += weight * features_->distance(column, points[i].levels[column], points[j].levels[column]);
      }
    }
  };
  for (std::size_t column = 0; column < weights_.size(); ++column) add(exponent, column, weights_[column]);
  const auto prior = [](std::size_t step) {
    const double off = (static_cast<double>(step) - static_cast<double>(kFirstWeight)) / kPriorSteps;
    return -0.5 * off * off;
  };
  double best = likelihood(exponent, values, noise_);
  for (std::size_t column = 0; column < weights_.size(); ++column) {
    const auto step = static_cast<std::size_t>(std::ranges::find(kWeights, weights_[column]) - kWeights.begin());
    const bool matters = std::ranges::any_of(points.first(n), [&](const Point& point) { return point.levels[column] != points[0].levels[column]; });
    for (const std::size_t other : {step + 1, step - 1}) {  // step - 1 wraps around below 0
      if (other >= kWeights.size() || !matters) continue;
      changed = exponent;
      add(changed, column, kWeights[other] - kWeights[step]);
      const double found = likelihood(changed, values, noise_) + prior(other) - prior(step);
      if (!(found > best)) continue;
      best = found - prior(other) + prior(step);
      weights_[column] = kWeights[other];
      exponent = changed;
      break;
    }
  }
  for (const double noise : kNoises) {
    const double found = likelihood(exponent, values, noise);
    if (!(found > best)) continue;
    best = found;
    noise_ = noise;
  }
}

void Surrogate::fit(std::span<const Point> points, std::vector<Levels> pool) {
  for (int sweep = 0; sweep < (points.size() <= kFewPoints ? 3 : 1); ++sweep) learn_weights(points);
  for (std::size_t column = 0; column < weights_.size(); ++column) {
    const std::size_t levels = features_->levels(column);
    decay_[column].resize(levels * levels);
    for (std::size_t a = 0; a < levels; ++a) {
      for (std::size_t b = 0; b < levels; ++b) {
        decay_[column][a * levels + b] = weights_[column] * features_->distance(column, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
      }
    }
  }
  points_.clear();
  rows_.clear();
  cross_.clear();
  solved_.clear();
  solved_ones_.clear();
  pool_ = std::move(pool);
  for (auto& sums : sums_) sums.assign(pool_.size(), 0.0);
  sum_ones_.assign(pool_.size(), 0.0);
  sum_squares_.assign(pool_.size(), 0.0);
  for (const Point& point : points) add(point);
}

void Surrogate::add(const Point& point) {
  const std::size_t n = points_.size();
  std::vector<float> row(n + 1), cross(pool_.size());
  Targets solved = point.targets;
  double one = 1, left = 1 + noise_;
  for (std::size_t j = 0; j < n; ++j) {
    float sum = covariance(point.levels, points_[j].levels);
    for (std::size_t k = 0; k < j; ++k) sum -= row[k] * rows_[j][k];
    row[j] = sum / rows_[j][j];
    left -= static_cast<double>(row[j] * row[j]);
    one -= static_cast<double>(row[j]) * solved_ones_[j];
    for (std::size_t t = 0; t < kTargets; ++t) solved[t] -= static_cast<double>(row[j]) * solved_[j][t];
  }
  const double pivot = std::sqrt(std::max(left, kLeastPivot));
  row[n] = static_cast<float>(pivot);
  one /= pivot;
  for (double& target : solved) target /= pivot;
  for (std::size_t i = 0; i < pool_.size(); ++i) cross[i] = covariance(point.levels, pool_[i]);
  for (std::size_t j = 0; j < n; ++j) {
    const float factor = row[j];
    const float* before = cross_[j].data();
    float* now = cross.data();
    for (std::size_t i = 0; i < pool_.size(); ++i) now[i] -= factor * before[i];
  }
  const auto inverse = static_cast<float>(1 / pivot);
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    cross[i] *= inverse;
    const auto value = static_cast<double>(cross[i]);
    for (std::size_t t = 0; t < kTargets; ++t) sums_[t][i] += value * solved[t];
    sum_ones_[i] += value * one;
    sum_squares_[i] += value * value;
  }
  points_.push_back(point);
  rows_.push_back(std::move(row));
  cross_.push_back(std::move(cross));
  solved_.push_back(solved);
  solved_ones_.push_back(one);
  update_means();
}

void Surrogate::update_means() {
  double ones = 0;
  Targets both{};
  for (std::size_t j = 0; j < points_.size(); ++j) {
    ones += solved_ones_[j] * solved_ones_[j];
    for (std::size_t t = 0; t < kTargets; ++t) both[t] += solved_ones_[j] * solved_[j][t];
  }
  for (std::size_t t = 0; t < kTargets; ++t) means_[t] = both[t] / ones;
  double squares = 1e-12;
  for (std::size_t j = 0; j < points_.size(); ++j) {
    const double off = solved_[j][0] - means_[0] * solved_ones_[j];
    squares += off * off;
  }
  variance_ = squares / static_cast<double>(points_.size());
}

Surrogate::Prediction Surrogate::predict(std::size_t i) const {
  Prediction prediction;
  for (std::size_t t = 0; t < kTargets; ++t) prediction.mean[t] = means_[t] + sums_[t][i] - means_[t] * sum_ones_[i];
  prediction.deviation = std::sqrt(variance_ * std::max(1e-9, 1 - sum_squares_[i]));
  return prediction;
}

}  // namespace fiel
