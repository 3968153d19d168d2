// The statistical promises about accuracy, tested as a whole (methodology, table of proofs: T6), in
// their short form: at a true drop of exactly the margin, how often is a candidate accepted? For
// right-or-wrong scores the answer is exact: all outcomes are summed with their probabilities. The
// ablations judge by rules that we don't use and must fail.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "stats/distributions.h"
#include "stats/non_inferiority.h"
#include "stats/paired_binary.h"
#include "stats/real_valued.h"
#include "stats/sample_size.h"
#include "stats/spending.h"

namespace fiel::stats {
namespace {

constexpr double kAlpha = 0.05;

struct Truth {
  double discordant_share;  // share of samples where only one of the two is right
  double drop;              // of the candidate's score
  std::int64_t samples;
};

double binomial_probability(std::int64_t hits, std::int64_t trials, double p) {
  const auto k = static_cast<double>(hits), n = static_cast<double>(trials);
  if (p <= 0.0 || p >= 1.0) return (p <= 0.0 ? hits == 0 : hits == trials) ? 1.0 : 0.0;
  return std::exp(-std::log(n + 1.0) - log_beta(k + 1.0, n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

// Probability that `accepts` says yes: over all numbers d of discordant samples and, given d, all
// numbers of losses among them.
double acceptance(const Truth& truth, const std::function<bool(const PairedCounts&)>& accepts) {
  const double loss_share = 0.5 * (1.0 + truth.drop / truth.discordant_share);
  double sum = 0.0;
  for (std::int64_t discordant = 0; discordant <= truth.samples; ++discordant) {
    const double outer = binomial_probability(discordant, truth.samples, truth.discordant_share);
    if (outer < 1e-9) continue;
    for (std::int64_t losses = 0; losses <= discordant; ++losses) {
      const double inner = binomial_probability(losses, discordant, loss_share);
      if (inner < 1e-9) continue;
      const PairedCounts counts{.wins = static_cast<double>(discordant - losses),
                                .losses = static_cast<double>(losses),
                                .samples = static_cast<double>(truth.samples)};
      if (accepts(counts)) sum += outer * inner;
    }
  }
  return sum;
}

bool gate_accepts(const PairedCounts& counts, const Requirement& requirement) {
  return non_inferiority_p_value(counts, requirement.margin) < requirement.alpha;
}

TEST(ProofAccuracy, T6ADropOfTheMarginIsAcceptedWithTheErrorPromised) {
  double worst = 0.0;
  for (std::int64_t samples : {200, 600, 1237, 2000}) {
    for (double margin : {0.005, 0.01, 0.02, 0.05}) {
      for (double discordant : {margin, 1.2 * margin, 2 * margin, 0.1}) {
        const Requirement requirement{margin, kAlpha};
        const double size = acceptance({discordant, margin, samples}, [&](const auto& counts) {
          return gate_accepts(counts, requirement);
        });
        EXPECT_LE(size, 0.055) << samples << " " << margin << " " << discordant;
        worst = std::max(worst, size);
      }
    }
  }
  EXPECT_GT(worst, 0.035);  // nor is the gate simply shut
}

TEST(ProofAccuracy, T6AblationTheScoreTestAloneIsTooGenerousWithoutWins) {
  double worst = 0.0;
  for (std::int64_t samples = 30; samples <= 600; ++samples) {
    const double size = acceptance({0.01, 0.01, samples}, [](const auto& counts) {
      return score_statistic(counts, -0.01) >= normal_quantile(1 - kAlpha);
    });
    worst = std::max(worst, size);
  }
  EXPECT_GT(worst, 0.065);
}

TEST(ProofAccuracy, T6AblationNoSignificantDropAcceptsAlmostAnything) {
  // McNemar's exact one-sided test finds no drop, so the candidate is taken.
  const double size = acceptance({0.02, 0.01, 200}, [](const auto& counts) {
    return 1.0 - binomial_cdf(counts.losses - 1, counts.wins + counts.losses, 0.5) > kAlpha;
  });
  EXPECT_GT(size, 0.5);
}

TEST(ProofAccuracy, T6OfTwoHundredBadCandidatesInARowTheHoldoutLetsFewerThanAlphaPass) {
  // Three nominees a run at most, each bad by exactly the margin, and a ledger over 200 openings.
  double any = 0.0;
  for (std::int64_t opening = 1; opening <= 200; ++opening) {
    const Requirement requirement{0.01, holdout_alpha(kAlpha, {(opening - 1) % 3 + 1, opening})};
    any += acceptance({0.02, 0.01, 1237},
                      [&](const auto& counts) { return gate_accepts(counts, requirement); });
    if (opening == 3) {
      EXPECT_LE(any, kAlpha);
    }
  }
  EXPECT_LE(any, kAlpha);
}

TEST(ProofAccuracy, T6AllSlicesMustPassSoNoCorrectionIsNeeded) {
  // One slice of K is bad by the margin, the others are equal: the candidate passes only if the bad
  // slice does.
  const Requirement requirement{0.02, kAlpha};
  const auto accepts = [&](const auto& counts) { return gate_accepts(counts, requirement); };
  const double bad = acceptance({0.04, 0.02, 500}, accepts);
  const double good = acceptance({0.02, 0.0, 500}, accepts);
  EXPECT_LE(bad * std::pow(good, 19), kAlpha);
  EXPECT_LE(bad, 0.055);
}

TEST(ProofAccuracy, T6ThePowerPlannedIsThePowerHad) {
  const Requirement requirement{0.01, kAlpha};
  const auto samples = *samples_for_power({requirement, 0.02, 0.8});
  const double power = acceptance(
      {0.02, 0.0, samples}, [&](const auto& counts) { return gate_accepts(counts, requirement); });
  EXPECT_NEAR(power, 0.8, 0.03);
}

TEST(ProofAccuracy, T6FewSamplesAreUndecidedEvenWithoutALoss) {
  const std::vector<double> right(200, 1.0);
  const auto result = non_inferiority({.reference = right, .candidate = right}, {0.01, kAlpha});
  EXPECT_EQ(result.decision, Decision::kNotProven);
  EXPECT_EQ(result.units_to_decide, 299);
}

// Real-valued scores: most samples lose a little, a few lose much; the mean lies at the margin.
std::vector<double> small_and_rare_heavy_losses(Rng& rng) {
  std::vector<double> differences;
  for (int sample = 0; sample < 160; ++sample) {
    differences.push_back(rng.uniform01() < 0.0375 ? -0.8 : -0.02 / 0.9625);
  }
  return differences;
}

TEST(ProofAccuracy, T6RealScoresAtTheMarginAreAcceptedWithTheErrorPromised) {
  int accepted = 0;
  const int runs = 300;
  for (int run = 0; run < runs; ++run) {
    Rng rng(sub_seed(static_cast<std::uint64_t>(run), "real"));
    std::vector<double> reference(160, 0.9), candidate = small_and_rare_heavy_losses(rng);
    for (double& score : candidate) score += 0.9;
    const auto result =
        non_inferiority({.reference = reference, .candidate = candidate}, {0.05, kAlpha});
    accepted += result.decision == Decision::kAccept ? 1 : 0;
  }
  EXPECT_LE(clopper_pearson_lower(accepted, runs, 0.05), 0.055) << accepted;
}

TEST(ProofAccuracy, T6AblationStudentsTAloneOverlooksRareHeavyLosses) {
  int accepted = 0;
  const int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    Rng rng(sub_seed(static_cast<std::uint64_t>(run), "real"));
    const auto units = sum_units(small_and_rare_heavy_losses(rng), {});
    accepted += t_lower_bound(units, kAlpha) > -0.05 ? 1 : 0;
  }
  EXPECT_GT(clopper_pearson_lower(accepted, runs, 0.05), 0.08) << accepted;
}

}  // namespace
}  // namespace fiel::stats
