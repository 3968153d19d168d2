// The promises as a user meets them: whole tuning runs, from anchors to verdict, on simulated machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/rng.h"
#include "proof/proofs.h"
#include "proof/simulated_run.h"
#include "stats/distributions.h"
#include "stats/noise.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

using stats::NoiseKind;

SimulatedProject project(const SimulatedData& data) {
  auto made = SimulatedProject::create(data);
  FIEL_CHECK(made.has_value());
  return std::move(*made);
}

SimulatedOutcome outcome_of(const SimulatedProject& on, const SimulatedMachine& machine,
                            double wall_seconds = kPlentyOfTimeSeconds) {
  auto outcome = on.run(machine, wall_seconds);
  if (!outcome) fmt::print(stderr, "a simulated run failed: {}\n", outcome.error().message);
  FIEL_CHECK(outcome.has_value());
  return std::move(*outcome);
}

SimulatedMachine machine_of(NoiseKind noise, double sigma, std::uint64_t seed) {
  return {.noise = noise, .sigma = sigma, .recorded = {}, .seed = seed, .candidates = {{"default"}}};
}

void add_names(SimulatedMachine& machine, int names, double log_gain) {
  for (int i = 0; i < names; ++i) machine.candidates.push_back({fmt::format("name{}", i), log_gain});
}

std::string names_text(int names) { return fmt::format("{} equal name{}", names, names == 1 ? "" : "s"); }

// --- T1 ------------------------------------------------------------------------------------------------

struct EqualNames {
  Share confirmed;    // speed confirmed for any nominee
  Share looks_faster; // the best of the race beats the baseline there: the winner of "smallest median of one race"
};

EqualNames equal_names(const SimulatedProject& on, int names, int runs,
                       const std::function<SimulatedMachine(std::uint64_t seed)>& machine) {
  EqualNames result;
  for (int run = 0; run < runs; ++run) {
    SimulatedMachine one = machine(sub_seed(static_cast<std::uint64_t>(run), "equal names"));
    add_names(one, names, 0.0);
    const auto outcome = outcome_of(on, one);
    result.confirmed.add(outcome.speed_confirmed || outcome.word == VerdictWord::kImproved);
    result.looks_faster.add(outcome.race_log_ratio.value_or(0) > 0);
  }
  return result;
}

Findings equal_names_in_all_noises(int names, int runs, std::span<const NoiseKind> kinds, double confidence) {
  const auto on = project({.min_gain = 0, .confidence = confidence});  // a minimal gain makes false wins rarer
  Findings findings;
  Share naive, pooled;
  for (const NoiseKind kind : kinds) {
    const auto result = equal_names(on, names, runs, [&](std::uint64_t seed) { return machine_of(kind, kSigma, seed); });
    findings.push_back(below(fmt::format("false wins, {}, {}, confidence {}", names_text(names), to_string(kind),
                                               confidence), result.confirmed, 1 - confidence));
    pooled.hits += result.confirmed.hits;
    pooled.runs += result.confirmed.runs;
    naive.hits += result.looks_faster.hits;
    naive.runs += result.looks_faster.runs;
  }
  findings.push_back(below(fmt::format("false wins, {}, all of these, confidence {}", names_text(names), confidence), pooled,
                           1 - confidence));
  findings.push_back(shown_above(fmt::format("ablation: the fastest of the race ships, {}", names_text(names)), naive, 3 * kAlpha));
  return findings;
}

// Series after series, each against its own median; a run starts at a random place and reads on.
std::function<double()> read_on(const RecordedTimings& recorded, std::uint64_t seed) {
  Rng rng(sub_seed(seed, "recorded"));
  auto series = static_cast<std::size_t>(rng.below(recorded.size()));
  auto at = static_cast<std::size_t>(rng.below(recorded[series].size()));
  return [&recorded, series, at, median = stats::median(recorded[series])]() mutable {
    if (at == recorded[series].size()) {
      series = (series + 1) % recorded.size();
      at = 0;
      median = stats::median(recorded[series]);
    }
    return std::log(recorded[series][at++] / median);
  };
}

// --- T2 ------------------------------------------------------------------------------------------------

// The sd of a session's log-ratio, of sessions that nothing stopped early.
double session_deviation(NoiseKind kind, double sigma) {
  const auto on = project({.min_gain = 0});
  std::vector<double> values;
  for (std::uint64_t run = 0; run < 12; ++run) {
    SimulatedMachine machine = machine_of(kind, sigma, sub_seed(run, "deviation"));
    add_names(machine, 1, 0.5);  // so fast that every session is won, and the estimating sessions come
    for (const double ratio : outcome_of(on, machine).estimates) values.push_back(ratio);
  }
  return stats::standard_deviation(values).value_or(0);
}

Findings power(int runs) {
  const auto on = project({});
  Findings findings;
  for (const double sigma : {0.002, 0.005, 0.01, 0.02, 0.05}) {
    const double deviation = session_deviation(NoiseKind::kProcessOffset, sigma);
    for (const double gain : {0.005, 0.01, 0.02, 0.05}) {
      Share confirmed;
      std::vector<double> sessions;
      for (int run = 0; run < runs; ++run) {
        SimulatedMachine machine = machine_of(NoiseKind::kProcessOffset, sigma, sub_seed(static_cast<std::uint64_t>(run), "power"));
        add_names(machine, 1, std::log1p(gain));
        const auto outcome = outcome_of(on, machine);
        confirmed.add(outcome.first_confirmed);
        if (outcome.first_confirmed) sessions.push_back(outcome.deciding_sessions);
      }
      const double win_chance =
          stats::normal_cdf((std::log1p(gain) - std::log1p(0.01)) / std::max(deviation, 1e-9));
      const bool promised = std::log1p(gain) >= std::log1p(0.01) + deviation;
      const bool must_not = gain <= 0.01;
      Finding finding{fmt::format("true gain {:.2g} %, noise {:.2g} % (session {:.2g} %, win chance {:.2f})", 100 * gain,
                                  100 * sigma, 100 * deviation, win_chance),
                      fmt::format("confirmed in {:.0f} % of {} runs{}", 100 * confirmed.rate(), runs,
                                  sessions.empty() ? std::string()
                                                   : fmt::format(", median {:.0f} sessions", stats::median(sessions))),
                      promised ? "at least 80 %" : must_not ? "at most 5 %" : "no promise",
                      true};
      // The promise is of the truth; a bound of so few runs may lie below it.
      if (promised) finding.holds = confirmed.upper() >= 0.8 && stats::median(sessions) <= 1.5 * 17;
      if (must_not) finding.holds = confirmed.lower() <= kAlpha;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// --- T3, T4 --------------------------------------------------------------------------------------------

struct Claims {
  Share covered;
  std::vector<double> bias, race_bias;  // reported minus true log gain
  std::vector<double> estimates;        // sessions minus the truth
};

void note_claim(Claims& claims, const SimulatedOutcome& outcome) {
  if (!outcome.winner_log_gain) return;
  const double truth = *outcome.winner_log_gain;
  const auto interval = stats::second_smallest_to_second_largest(outcome.estimates);
  claims.covered.add(interval && interval->low <= truth && truth <= interval->high);
  claims.bias.push_back(stats::median(outcome.estimates) - truth);
  for (const double ratio : outcome.estimates) claims.estimates.push_back(ratio - truth);
  if (outcome.race_log_ratio) claims.race_bias.push_back(*outcome.race_log_ratio - outcome.nominee_log_gain);
}

Findings coverage_of_whole_runs(int runs) {
  const auto on = project({});
  Findings findings;
  for (const NoiseKind kind : {NoiseKind::kIid, NoiseKind::kAr1, NoiseKind::kProcessOffset, NoiseKind::kSpikes}) {
    for (const bool random_budget : {false, true}) {
      Claims claims;
      for (int run = 0; run < runs; ++run) {
        const auto seed = sub_seed(static_cast<std::uint64_t>(run), "coverage");
        SimulatedMachine machine = machine_of(kind, kSigma, seed);
        add_names(machine, 1, 0.04);
        Rng rng(sub_seed(seed, "budget"));
        note_claim(claims, outcome_of(on, machine, random_budget ? 45 + 45 * rng.uniform01() : kPlentyOfTimeSeconds));
      }
      if (claims.covered.runs < runs / 10) continue;
      findings.push_back(not_refuted_above(
          fmt::format("reported interval covers the truth, {}, {}", to_string(kind),
                      random_budget ? "stopped by a budget of random size" : "stopped at the win"), claims.covered, 0.95));
    }
  }
  return findings;
}

Findings winners_curse(int candidates, int runs, bool graded) {
  const auto on = project({});
  Claims claims;
  for (int run = 0; run < runs; ++run) {
    SimulatedMachine machine = machine_of(NoiseKind::kProcessOffset, kSigma, sub_seed(static_cast<std::uint64_t>(run), "curse"));
    for (int i = 0; i < candidates; ++i) {
      const double gain = graded ? -0.05 + 0.1 * i / std::max(1, candidates - 1) : 0.05;
      machine.candidates.push_back({fmt::format("name{}", i), gain});
    }
    note_claim(claims, outcome_of(on, machine));
  }
  if (claims.bias.size() < 2) return {{"winners", "too few", "some", false}};
  const double deviation = stats::standard_deviation(claims.estimates).value_or(0);
  const auto in_sigmas = [&](const std::vector<double>& values) { return stats::mean(values) / deviation; };
  const double error = stats::standard_deviation(claims.bias).value_or(0) / std::sqrt(static_cast<double>(claims.bias.size())) / deviation;
  const std::string of = fmt::format("{} {} candidates", candidates, graded ? "graded" : "equal");
  const double bias = in_sigmas(claims.bias), race_bias = in_sigmas(claims.race_bias);
  return {{"bias of the reported gain, " + of, fmt::format("{:+.3f} session sigmas (se {:.3f}, {} winners)", bias, error,
                                                           claims.bias.size()),
           "at most 0.1 in size", std::abs(bias) <= 0.1 + 2 * error},
          {"ablation: the race's estimate of the nominee, " + of, fmt::format("{:+.3f} session sigmas", race_bias),
           graded ? "no promise" : "above 0.2", graded || race_bias > 0.2}};
}

// --- T6 ------------------------------------------------------------------------------------------------

// A drop of exactly `margin`, where psi of the samples change sides.
SimulatedCandidate bad_by_the_margin(std::string name, double margin, double psi) {
  constexpr double kReferenceAccuracy = 0.9;
  return {std::move(name), 0.2, 0.5 * (psi + margin) / kReferenceAccuracy, 0.5 * (psi - margin) / (1 - kReferenceAccuracy)};
}

Findings one_bad_candidate(int runs) {
  Findings findings;
  struct Case {
    double margin, psi;
    int holdout, slices;
  };
  for (const Case& one : {Case{0.05, 0.05, 200, 1}, Case{0.05, 0.1, 200, 1}, Case{0.02, 0.04, 1000, 1}, Case{0.05, 0.1, 1000, 5}}) {
    const auto on = project({.tuning = 20 * one.slices, .holdout = one.holdout, .max_drop = one.margin, .slices = one.slices});
    Share accepted, judged;
    for (int run = 0; run < runs; ++run) {
      SimulatedMachine machine = machine_of(NoiseKind::kIid, 0.002, sub_seed(static_cast<std::uint64_t>(run), "bad"));
      machine.candidates.push_back(bad_by_the_margin("bad", one.margin, one.psi));
      if (one.slices > 1) machine.candidates.back().only_in_slice = 0;
      const auto outcome = outcome_of(on, machine);
      accepted.add(outcome.word == VerdictWord::kImproved);
      judged.add(outcome.speed_confirmed);
    }
    findings.push_back(below(
        fmt::format("false accepts: drop = margin = {:.2g} %{}, discordant {:.2g} %, hold-out {} ({} % reached it)",
                    100 * one.margin, one.slices > 1 ? fmt::format(" in one of {} slices", one.slices) : "", 100 * one.psi,
                    one.holdout, std::lround(100 * judged.rate())), accepted, kAlpha));
  }
  return findings;
}

Findings search_of_bad_candidates(int candidates, int runs) {
  const auto on = project({.tuning = 40, .holdout = 300, .max_drop = 0.05});
  Share accepted, looks_fine;
  for (int run = 0; run < runs; ++run) {
    SimulatedMachine machine = machine_of(NoiseKind::kIid, 0.002, sub_seed(static_cast<std::uint64_t>(run), "search"));
    for (int i = 0; i < candidates; ++i) machine.candidates.push_back(bad_by_the_margin(fmt::format("bad{}", i), 0.05, 0.1));
    const auto outcome = outcome_of(on, machine);
    accepted.add(outcome.word == VerdictWord::kImproved);
    looks_fine.add(outcome.speed_confirmed);
  }
  return {below(fmt::format("false accepts of a whole search of {} candidates, all bad by the margin", candidates), accepted, kAlpha),
          shown_above("ablation: one that is admissible by point estimates on tuning data ships", looks_fine, 0.3)};
}

}  // namespace

std::vector<StatisticalProof> whole_run_proofs(const RecordedTimings& recorded) {
  std::vector<StatisticalProof> proofs = {
      {"T1", "Whole runs: two names of one candidate",
       [](int runs) { return equal_names_in_all_noises(1, runs, stats::kAllNoiseKinds, 0.95); }, 40, 2000},
      {"T1", "Whole runs: sixteen names",
       [](int runs) {
         return equal_names_in_all_noises(16, runs, std::array{NoiseKind::kAr1, NoiseKind::kProcessOffset}, 0.95);
       }, 20, 400},
      {"T2", "Whole runs: what gain is found at what noise", power, 6, 200},
      {"T3", "Whole runs: the reported interval covers the truth", coverage_of_whole_runs, 15, 400},
      {"T4", "Whole runs: no winner's curse",
       [](int runs) { return winners_curse(10, runs, false); }, 20, 500},
      {"T6", "Whole runs: a candidate that is bad by exactly the margin", one_bad_candidate, 25, 500},
      {"T6", "Whole runs: a search among bad candidates",
       [](int runs) { return search_of_bad_candidates(20, runs); }, 15, 200}};
  const std::vector<StatisticalProof> long_only = {
      {"T1", "Whole runs at confidence 0.99",
       [](int runs) {
         return equal_names_in_all_noises(1, runs, std::array{NoiseKind::kAr1, NoiseKind::kProcessOffset}, 0.99);
       }, 0, 2000},
      {"T1", "Whole runs: 256 names",
       [](int runs) { return equal_names_in_all_noises(256, runs, std::array{NoiseKind::kProcessOffset}, 0.95); }, 0, 300},
      {"T4", "Whole runs: no winner's curse among 100",
       [](int runs) { return winners_curse(100, runs, false); }, 0, 60},
      {"T4", "Whole runs: no winner's curse among graded candidates",
       [](int runs) { return winners_curse(10, runs, true); }, 0, 500},
      {"T6", "Whole runs: a search among 200 bad candidates",
       [](int runs) { return search_of_bad_candidates(200, runs); }, 0, 300}};
  proofs.insert(proofs.end(), long_only.begin(), long_only.end());
  if (recorded.empty()) return proofs;
  proofs.push_back({"T1", "Whole runs: two names, recorded timings",
                    [&recorded](int runs) -> Findings {
                      const auto on = project({.min_gain = 0});
                      const auto result = equal_names(on, 1, runs, [&](std::uint64_t seed) {
                        SimulatedMachine machine = machine_of(NoiseKind::kIid, 0, seed);
                        machine.recorded = read_on(recorded, seed);
                        return machine;
                      });
                      return {below("false wins, 1 equal name, contiguous windows of recorded timings", result.confirmed, kAlpha)};
                    }, 0, 2000});
  return proofs;
}

}  // namespace fiel
