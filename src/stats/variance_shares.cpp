#include "stats/variance_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fiel::stats {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kMostLearned = 160;  // rows that weights are learned from: a step costs their cube
constexpr std::size_t kMostFitted = 600;   // rows of the fit itself, once
constexpr int kSteps = 15;                 // of the weights; later ones move them by a per cent or two
constexpr double kLeastNoise = 1e-6;       // of the variance; keeps what is exact solvable
constexpr double kLeastWeight = 1e-9;

using Square = std::vector<double>;  // n x n, row by row

/// The inverse of a positive definite matrix, in its place, by Cholesky; false where it is not one.
bool invert(Square& matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = &matrix[i * n];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &matrix[j * n];
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (i == j && !(sum > 0)) return false;
      row[j] = i == j ? std::sqrt(sum) : sum / other[j];
    }
  }
  // The factor's own inverse, a column at a time into the upper half as its transpose.
  Square inverse(n * n, 0.0);
  for (std::size_t column = 0; column < n; ++column) {
    double* solved = &inverse[column * n];  // column of L^-1, kept as a row
    solved[column] = 1 / matrix[column * n + column];
    for (std::size_t i = column + 1; i < n; ++i) {
      const double* row = &matrix[i * n];
      double sum = 0;
      for (std::size_t k = column; k < i; ++k) sum -= row[k] * solved[k];
      solved[i] = sum / row[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = j; k < n; ++k) sum += inverse[i * n + k] * inverse[j * n + k];
      matrix[i * n + j] = matrix[j * n + i] = sum;
    }
  }
  return true;
}

struct Weights {
  std::vector<double> of;  // per factor
  double pairs = 1;        // rho
  double noise = 0.1;
};

class Model {
 public:
  explicit Model(std::span<const std::size_t> levels) : levels_(levels.begin(), levels.end()) {
    const double factors = static_cast<double>(std::ranges::count_if(levels_, [](std::size_t n) { return n > 1; }));
    for (const std::size_t count : levels_) weights_.of.push_back(count > 1 ? 1 / factors : 0.0);
  }

  /// Values should have a variance of about 1.
  bool learn(std::span<const FactorRow> rows, std::span<const double> values) {
    for (int step = 0; step < kSteps; ++step) {
      if (!improve(rows, values)) return false;
    }
    return true;
  }

  bool fit(std::span<const FactorRow> rows, std::span<const double> values) {
    const std::size_t n = rows.size();
    Square inverse = covariance(rows);
    if (!invert(inverse, n)) return false;
    rows_.assign(rows.begin(), rows.end());
    dual_ = dual(inverse, values);
    return true;
  }

  double predict(const FactorRow& row) const {
    double sum = mean_;
    for (std::size_t i = 0; i < rows_.size(); ++i) sum += dual_[i] * covariance(row, rows_[i]);
    return sum;
  }

  std::vector<double> effects(std::size_t factor) const {
    std::vector<double> effects(levels_[factor], 0.0);
    for (std::size_t level = 0; level < effects.size(); ++level) {
      for (std::size_t i = 0; i < rows_.size(); ++i) effects[level] += dual_[i] * weights_.of[factor] * z(factor, level, rows_[i][factor]);
    }
    return effects;
  }

  /// Variance of the part that hangs on both together and on neither alone.
  double pair_variance(std::size_t first, std::size_t second) const {
    const double weight = weights_.pairs * weights_.of[first] * weights_.of[second];
    double squares = 0;
    for (std::size_t a = 0; a < levels_[first]; ++a) {
      for (std::size_t b = 0; b < levels_[second]; ++b) {
        double effect = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) effect += dual_[i] * z(first, a, rows_[i][first]) * z(second, b, rows_[i][second]);
        squares += effect * effect;
      }
    }
    return weight * weight * squares / static_cast<double>(levels_[first] * levels_[second]);
  }

 private:
  double z(std::size_t factor, std::size_t a, std::size_t b) const {
    if (levels_[factor] < 2) return 0;
    return a == b ? 1.0 : -1.0 / static_cast<double>(levels_[factor] - 1);
  }

  // sum w_k w_l z_k z_l over pairs = ((sum w z)^2 - sum (w z)^2) / 2
  double pair_sum(double sum, double squares) const { return (sum * sum - squares) / 2; }

  double covariance(const FactorRow& a, const FactorRow& b) const {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      const double part = weights_.of[k] * z(k, a[k], b[k]);
      sum += part;
      squares += part * part;
    }
    return sum + weights_.pairs * pair_sum(sum, squares);
  }

  Square covariance(std::span<const FactorRow> rows) const {
    const std::size_t n = rows.size();
    Square matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = covariance(rows[i], rows[j]);
      matrix[i * n + i] += weights_.noise;
    }
    return matrix;
  }

  // C^-1 (y - mean), with the mean at its best value.
  std::vector<double> dual(const Square& inverse, std::span<const double> values) {
    const std::size_t n = values.size();
    std::vector<double> ones(n, 0.0), dual(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        ones[i] += inverse[i * n + j];
        dual[i] += inverse[i * n + j] * values[j];
      }
    }
    mean_ = std::reduce(dual.begin(), dual.end()) / std::reduce(ones.begin(), ones.end());
    for (std::size_t i = 0; i < n; ++i) dual[i] -= mean_ * ones[i];
    return dual;
  }

  // One step of all weights: each times the root of (what the values ask of it) / (what it is expected to give).
  bool improve(std::span<const FactorRow> rows, std::span<const double> values) {
    const std::size_t n = rows.size(), factors = levels_.size();
    Square inverse = covariance(rows);
    if (!invert(inverse, n)) return false;
    const std::vector<double> dual = this->dual(inverse, values);
    std::vector<double> asked(factors, 0.0), given(factors, 0.0), parts(factors);
    double pairs_asked = 0, pairs_given = 0, noise_asked = 0, noise_given = 0;
    for (std::size_t i = 0; i < n; ++i) {
      noise_asked += dual[i] * dual[i];
      noise_given += inverse[i * n + i];
      for (std::size_t j = 0; j <= i; ++j) {
        const double twice = i == j ? 1.0 : 2.0;
        const double both = twice * dual[i] * dual[j], trace = twice * inverse[i * n + j];
        double sum = 0, squares = 0;
        for (std::size_t k = 0; k < factors; ++k) {
          parts[k] = z(k, rows[i][k], rows[j][k]);
          const double part = weights_.of[k] * parts[k];
          sum += part;
          squares += part * part;
        }
        for (std::size_t k = 0; k < factors; ++k) {
          const double slope = parts[k] * (1 + weights_.pairs * (sum - weights_.of[k] * parts[k]));
          asked[k] += both * slope;
          given[k] += trace * slope;
        }
        pairs_asked += both * pair_sum(sum, squares);
        pairs_given += trace * pair_sum(sum, squares);
      }
    }
    const auto step = [](double& weight, double up, double down, double least) {
      if (up > 0 && down > 0) weight = std::max(least, weight * std::sqrt(up / down));
    };
    for (std::size_t k = 0; k < factors; ++k) {
      if (levels_[k] > 1) step(weights_.of[k], asked[k], given[k], kLeastWeight);
    }
    step(weights_.pairs, pairs_asked, pairs_given, kLeastWeight);
    step(weights_.noise, noise_asked, noise_given, kLeastNoise);
    return true;
  }

  std::vector<std::size_t> levels_;
  Weights weights_;
  std::vector<FactorRow> rows_;
  std::vector<double> dual_;
  double mean_ = 0;
};

struct Sample {
  std::vector<FactorRow> rows;
  std::vector<double> values;

  void add(const FactorRow& row, double value) {
    rows.push_back(row);
    values.push_back(value);
  }
  /// At most so many, evenly spread.
  Sample at_most(std::size_t most) const {
    if (rows.size() <= most) return *this;
    Sample part;
    for (std::size_t i = 0; i < most; ++i) part.add(rows[i * rows.size() / most], values[i * rows.size() / most]);
    return part;
  }
};

std::optional<Model> fitted(std::span<const std::size_t> levels, const Sample& sample) {
  Model model(levels);
  const Sample learned = sample.at_most(kMostLearned), all = sample.at_most(kMostFitted);
  if (!model.learn(learned.rows, learned.values) || !model.fit(all.rows, all.values)) return std::nullopt;
  return model;
}

std::optional<double> foretold(std::span<const std::size_t> levels, const Sample& sample) {
  double errors = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Sample seen;
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
      if (i % kFolds != fold) seen.add(sample.rows[i], sample.values[i]);
    }
    const auto model = fitted(levels, seen);
    if (!model) return std::nullopt;
    for (std::size_t i = fold; i < sample.rows.size(); i += kFolds) {
      const double error = sample.values[i] - model->predict(sample.rows[i]);
      errors += error * error;
    }
  }
  return 1 - errors / static_cast<double>(sample.rows.size());  // the values' variance is 1
}

}  // namespace

std::optional<VarianceShares> variance_shares(std::span<const std::size_t> levels, std::span<const FactorRow> rows,
                                              std::span<const double> values) {
  const std::size_t n = rows.size();
  if (n < kFewestRows || values.size() != n || std::ranges::none_of(levels, [](std::size_t count) { return count > 1; })) return std::nullopt;
  const double mean = std::reduce(values.begin(), values.end()) / static_cast<double>(n);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(n));
  if (!(deviation > 0) || !std::isfinite(deviation)) return std::nullopt;
  Sample sample;
  for (std::size_t i = 0; i < n; ++i) sample.add(rows[i], (values[i] - mean) / deviation);

  const auto model = fitted(levels, sample);
  const auto seen = foretold(levels, sample);
  if (!model || !seen) return std::nullopt;
  VarianceShares result{.factors = {}, .pairs = {}, .foretold = *seen};
  double all = 0;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    FactorShare factor{.share = 0, .effects = model->effects(k)};
    for (const double effect : factor.effects) factor.share += effect * effect / static_cast<double>(levels[k]);
    for (double& effect : factor.effects) effect *= deviation;
    all += factor.share;
    result.factors.push_back(std::move(factor));
    for (std::size_t l = 0; l < k; ++l) {
      if (levels[k] < 2 || levels[l] < 2) continue;
      result.pairs.push_back({.first = l, .second = k, .share = model->pair_variance(l, k)});
      all += result.pairs.back().share;
    }
  }
  if (!(all > 0)) return std::nullopt;
  for (FactorShare& factor : result.factors) factor.share /= all;
  for (PairShare& pair : result.pairs) pair.share /= all;
  std::ranges::stable_sort(result.pairs, std::ranges::greater{}, &PairShare::share);
  return result;
}

}  // namespace fiel::stats
