// The promise about accuracy, of the gate's tests alone: at a true drop of exactly the margin, how often is a candidate
// accepted? For right-or-wrong scores the answer is exact: all outcomes are summed with their probabilities.

#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "proof/proofs.h"
#include "stats/distributions.h"
#include "stats/non_inferiority.h"
#include "stats/paired_binary.h"
#include "stats/real_valued.h"
#include "stats/sample_size.h"
#include "stats/spending.h"

namespace fiel {
namespace {

using namespace stats;

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

Findings drop_of_the_margin(int) {
  Findings findings;
  double worst_of_all = 0.0;
  for (std::int64_t samples : {200, 600, 1237, 2000}) {
    double worst = 0.0;
    for (double margin : {0.005, 0.01, 0.02, 0.05}) {
      for (double discordant : {margin, 1.2 * margin, 2 * margin, 0.1}) {
        const Requirement requirement{margin, kAlpha};
        worst = std::max(worst, acceptance({discordant, margin, samples}, [&](const auto& counts) {
          return gate_accepts(counts, requirement);
        }));
      }
    }
    findings.push_back(exact_below(
        fmt::format("false accepts at a drop of exactly the margin (0.5 to 5 %; discordant 0.5 to 10 %), n = {}", samples),
        worst, 0.055));
    worst_of_all = std::max(worst_of_all, worst);
  }
  findings.push_back(exact_above("nor is the gate simply shut: the worst of these", worst_of_all, 0.035));
  return findings;
}

Findings score_test_alone(int) {
  double worst = 0.0;
  for (std::int64_t samples = 30; samples <= 600; ++samples) {
    worst = std::max(worst, acceptance({0.01, 0.01, samples}, [](const auto& counts) {
      return score_statistic(counts, -0.01) >= normal_quantile(1 - kAlpha);
    }));
  }
  return {exact_above("ablation: the score test without the exact binomial where there are no wins", worst, 0.065)};
}

Findings point_estimate_gates(int) {
  // McNemar's exact one-sided test finds no drop, so the candidate is taken; or its estimate lies inside the margin.
  const double mcnemar = acceptance({0.02, 0.01, 200}, [](const auto& counts) {
    return 1.0 - binomial_cdf(counts.losses - 1, counts.wins + counts.losses, 0.5) > kAlpha;
  });
  const double estimate = acceptance({0.02, 0.01, 1237}, [](const auto& counts) {
    return (counts.losses - counts.wins) / counts.samples <= 0.01;
  });
  return {exact_above("ablation: \"no significant drop\" taken for proof", mcnemar, 0.5),
          exact_above("ablation: the point estimate inside the margin taken for proof", estimate, 0.4)};
}

Findings two_hundred_in_a_row(int) {
  // Three nominees a run at most, each bad by exactly the margin, and a ledger over 200 openings.
  double any = 0.0, first_run = 0.0, none_reused = 1.0;
  for (std::int64_t opening = 1; opening <= 200; ++opening) {
    const Requirement requirement{0.01, holdout_alpha(kAlpha, {(opening - 1) % 3 + 1, opening})};
    any += acceptance({0.02, 0.01, 1237},
                      [&](const auto& counts) { return gate_accepts(counts, requirement); });
    if (opening == 3) first_run = any;
    none_reused *= 1 - acceptance({0.02, 0.01, 1237},
                                  [&](const auto& counts) { return gate_accepts(counts, {0.01, kAlpha}); });
  }
  return {exact_below("false accepts of one run's three nominees, all bad by the margin", first_run, kAlpha),
          exact_below("false accepts in 200 openings of one hold-out under the ledger", any, kAlpha),
          exact_above("ablation: the hold-out reused 200 times at the whole alpha", 1 - none_reused, 0.9)};
}

Findings all_slices_must_pass(int) {
  // One slice of K is bad by the margin, the others are equal: the candidate passes only if the bad
  // slice does.
  const Requirement requirement{0.02, kAlpha};
  const auto accepts = [&](const auto& counts) { return gate_accepts(counts, requirement); };
  const double bad = acceptance({0.04, 0.02, 500}, accepts);
  const double good = acceptance({0.02, 0.0, 500}, accepts);
  return {exact_below("false accepts, one slice bad by the margin", bad, 0.055),
          exact_below("the same among 20 slices, all of which must pass", bad * std::pow(good, 19), kAlpha)};
}

Findings power_planned(int) {
  const Requirement requirement{0.01, kAlpha};
  const auto samples = *samples_for_power({requirement, 0.02, 0.8});
  const double power = acceptance(
      {0.02, 0.0, samples}, [&](const auto& counts) { return gate_accepts(counts, requirement); });
  return {{fmt::format("power with the n that fiel says would decide ({})", samples), fmt::format("{:.1f} %, exact", 100 * power),
           "80 %, give or take 3", std::abs(power - 0.8) <= 0.03}};
}

Findings few_samples(int) {
  const std::vector<double> right(200, 1.0);
  const auto result = non_inferiority({.reference = right, .candidate = right}, {0.01, kAlpha});
  return {{"200 samples without a single loss, margin 1 %", fmt::format("undecided, {} would decide", result.units_to_decide.value_or(0)),
           "undecided, 299", result.decision == Decision::kNotProven && result.units_to_decide == 299}};
}

// Real-valued scores: most samples lose a little, a few lose much; the mean lies at the margin.
std::vector<double> small_and_rare_heavy_losses(Rng& rng) {
  std::vector<double> differences;
  for (int sample = 0; sample < 160; ++sample) {
    differences.push_back(rng.uniform01() < 0.0375 ? -0.8 : -0.02 / 0.9625);
  }
  return differences;
}

Findings real_scores(int runs) {
  Share gate, t_alone;
  for (int run = 0; run < runs; ++run) {
    Rng rng(sub_seed(static_cast<std::uint64_t>(run), "real"));
    const auto differences = small_and_rare_heavy_losses(rng);
    t_alone.add(t_lower_bound(sum_units(differences, {}), kAlpha) > -0.05);
    if (run % 5 != 0) continue;  // the bootstrap is dear
    std::vector<double> reference(160, 0.9), candidate = differences;
    for (double& score : candidate) score += 0.9;
    gate.add(non_inferiority({.reference = reference, .candidate = candidate}, {0.05, kAlpha}).decision ==
             Decision::kAccept);
  }
  return {not_refuted_below("false accepts at the margin, real-valued scores with rare heavy losses", gate, 0.055),
          shown_above("ablation: Student's t alone", t_alone, 0.08)};
}

}  // namespace

std::vector<StatisticalProof> accuracy_proofs() {
  return {{"T6", "A drop of the margin is accepted with the error promised", drop_of_the_margin, 1, 1},
          {"T6", "The score test alone is too generous without wins", score_test_alone, 1, 1},
          {"T6", "Point estimates accept almost anything", point_estimate_gates, 1, 1},
          {"T6", "Two hundred bad candidates in a row", two_hundred_in_a_row, 1, 1},
          {"T6", "All slices must pass, so no correction is needed", all_slices_must_pass, 1, 1},
          {"T6", "The power planned is the power had", power_planned, 1, 1},
          {"T6", "Few samples are undecided even without a loss", few_samples, 1, 1},
          {"T6", "Real-valued scores", real_scores, 1500, 10000}};
}

}  // namespace fiel
