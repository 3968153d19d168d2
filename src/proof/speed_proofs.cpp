// The promises about speed, of the deciding rules alone: T1 false winners, T2 sessions needed, T3 coverage, T5 percentiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "proof/proofs.h"
#include "stats/distributions.h"
#include "stats/e_process.h"
#include "stats/noise.h"
#include "stats/noise_models.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

using namespace stats;

constexpr int kLooks = 60;
constexpr int kRounds = 3;

// A pair of processes on one machine, timed in alternation; `gain` is the candidate's true log
// gain.
class Pair {
 public:
  Pair(NoisyMachine& machine, double gain)
      : machine_(machine),
        comparator_(machine.start_process()),
        candidate_(machine.start_process() - gain) {}

  double shuffled_round(Rng& order) {
    const bool comparator_first = order.coin();
    const double first = machine_.next_timing(), second = machine_.next_timing();
    const double comparator = comparator_ + (comparator_first ? first : second);
    const double candidate = candidate_ + (comparator_first ? second : first);
    return comparator - candidate;
  }

  // All rounds of the candidate, then all of the comparator: how most people measure.
  double blocked_session() {
    std::vector<double> candidate, comparator;
    for (int i = 0; i < kRounds; ++i) candidate.push_back(candidate_ + machine_.next_timing());
    for (int i = 0; i < kRounds; ++i) comparator.push_back(comparator_ + machine_.next_timing());
    return median(comparator) - median(candidate);
  }

 private:
  NoisyMachine& machine_;
  double comparator_;
  double candidate_;
};

double session(NoisyMachine& machine, double gain, Rng& order) {
  Pair pair(machine, gain);
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(pair.shuffled_round(order));
  return median(rounds);
}

using Won = std::function<bool(NoisyMachine&, Rng&)>;

Share false_wins(NoiseKind kind, int runs, const Won& session_won) {
  Share share;
  for (int run = 0; run < runs; ++run) {
    const auto seed = sub_seed(static_cast<std::uint64_t>(run), to_string(kind));
    NoisyMachine machine(kind, kSigma, seed);
    Rng order(sub_seed(seed, "order"));
    PairTest test(kAlpha);
    for (int look = 0; look < kLooks && !test.confirmed(); ++look) {
      test.add_session(session_won(machine, order));
    }
    share.add(test.confirmed());
  }
  return share;
}

Findings equal_candidates(int runs) {
  Findings findings;
  for (NoiseKind kind : kAllNoiseKinds) {
    // Without a minimal gain, which would only make false winners rarer.
    const auto share = false_wins(kind, runs, [](NoisyMachine& machine, Rng& order) {
      return session_is_won(session(machine, 0.0, order), 0.0);
    });
    findings.push_back(shown_below(fmt::format("false wins in {} looks, {}", kLooks, to_string(kind)), share, kAlpha));
  }
  return findings;
}

Findings luckiest_of_sixteen(int runs) {
  Share share;
  for (int run = 0; run < runs / 4; ++run) {
    const auto seed = sub_seed(static_cast<std::uint64_t>(run), "sixteen");
    NoisyMachine machine(NoiseKind::kProcessOffset, kSigma, seed);
    Rng order(sub_seed(seed, "order"));
    // All are equal, so whichever looks best in the race, confirmation starts from nothing.
    double best = -1.0;
    for (int name = 0; name < 16; ++name) best = std::max(best, session(machine, 0.0, order));
    PairTest test(kAlpha / 2);
    for (int look = 0; look < kLooks && !test.confirmed(); ++look) {
      test.add_session(session_is_won(session(machine, 0.0, order), 0.0));
    }
    share.add(test.confirmed());
  }
  return {shown_below("false wins of the luckiest of 16 equal names", share, kAlpha)};
}

Findings sign_test_at_each_look(int runs) {
  Share e_process, sign_test;
  for (int run = 0; run < runs; ++run) {
    Rng coin(sub_seed(static_cast<std::uint64_t>(run), "looks"));
    PairTest test(kAlpha);
    bool significant = false;
    for (int look = 0; look < 100; ++look) {
      test.add_session(coin.coin());
      const auto won = static_cast<double>(test.sessions().won);
      const auto all = static_cast<double>(test.sessions().all);
      // One-sided sign test: P(Bin(n, 1/2) >= k).
      significant = significant || 1.0 - binomial_cdf(won - 1.0, all, 0.5) <= kAlpha;
    }
    e_process.add(test.confirmed());
    sign_test.add(significant);
  }
  return {shown_below("false wins in 100 looks at fair coins, e-process", e_process, kAlpha),
          shown_above("ablation: the sign test looked at each time", sign_test, 3 * kAlpha)};
}

Findings without_interleaving(int runs) {
  const auto share = false_wins(NoiseKind::kLinearDrift, runs, [](NoisyMachine& machine, Rng&) {
    return session_is_won(Pair(machine, 0.0).blocked_session(), 0.0);
  });
  return {shown_above("ablation: no interleaving, linear drift", share, kAlpha)};
}

Findings rounds_as_evidence(int runs) {
  Share share;
  for (int run = 0; run < runs; ++run) {
    const auto seed = sub_seed(static_cast<std::uint64_t>(run), "one process");
    NoisyMachine machine(NoiseKind::kProcessOffset, kSigma, seed);
    Rng order(sub_seed(seed, "order"));
    Pair pair(machine, 0.0);
    PairTest test(kAlpha);
    for (int round = 0; round < kLooks; ++round) test.add_session(pair.shuffled_round(order) > 0.0);
    share.add(test.confirmed());
  }
  return {shown_above("ablation: rounds of one process counted as evidence", share, kAlpha)};
}

// Exact distribution of the number of sessions until confirmed, by walking all (sessions, wins).
struct Needed {
  double win_chance;
  std::int64_t median;
  std::int64_t p90;
};

Needed sessions_needed(double win_chance) {
  Needed needed{win_chance, 0, 0};
  std::vector<double> undecided{1.0};  // by wins
  double confirmed = 0.0;
  for (std::int64_t all = 1; needed.p90 == 0; ++all) {
    std::vector<double> next(undecided.size() + 1, 0.0);
    for (std::size_t won = 0; won < undecided.size(); ++won) {
      next[won] += (1.0 - win_chance) * undecided[won];
      next[won + 1] += win_chance * undecided[won];
    }
    for (std::size_t won = 0; won < next.size(); ++won) {
      if (log_e_value({static_cast<std::int64_t>(won), all}) < -std::log(kAlpha)) continue;
      confirmed += next[won];
      next[won] = 0.0;
    }
    undecided = next;
    if (needed.median == 0 && confirmed >= 0.5) needed.median = all;
    if (confirmed >= 0.9) needed.p90 = all;
  }
  return needed;
}

// The table of methodology B2, exact.
Findings sessions_as_planned(int) {
  Findings findings;
  for (const auto& planned :
       {Needed{1.0, 7, 7}, Needed{0.9, 11, 17}, Needed{0.8, 17, 35}, Needed{0.7, 37, 90}}) {
    const auto needed = sessions_needed(planned.win_chance);
    findings.push_back({fmt::format("sessions to confirm at win chance {}", planned.win_chance),
                        fmt::format("median {}, p90 {}, exact", needed.median, needed.p90),
                        fmt::format("median {}, p90 {}", planned.median, planned.p90),
                        needed.median == planned.median && needed.p90 == planned.p90});
  }
  return findings;
}

Findings gain_of_one_sigma(int runs) {
  Findings findings;
  for (NoiseKind kind : {NoiseKind::kIid, NoiseKind::kAr1, NoiseKind::kProcessOffset}) {
    Share share;
    for (int run = 0; run < runs; ++run) {
      const auto seed = sub_seed(static_cast<std::uint64_t>(run), "gain");
      NoisyMachine machine(kind, kSigma, seed);
      Rng order(sub_seed(seed, "order"));
      // A session's value is a difference of two offsets: sqrt 2 sigma at most in these models.
      const double gain = std::log1p(0.01) + std::sqrt(2.0) * kSigma;
      PairTest test(kAlpha);
      for (int look = 0; look < 25 && !test.confirmed(); ++look) {
        test.add_session(session_is_won(session(machine, gain, order), 0.01));
      }
      share.add(test.confirmed());
    }
    findings.push_back(shown_above(
        fmt::format("confirmed within 25 sessions at a gain of min_gain + sigma(session), {}", to_string(kind)), share, 0.8));
  }
  return findings;
}

enum class Stop { kAtRandom, kAtFirstWin, kAtBudget };

struct Coverage {
  Share fresh_sessions;
  Share deciding_sessions;
};

// Percentile bootstrap of the mean over the sessions that decided: what would be shown if fresh
// sessions were thought too dear.
bool bootstrap_covers(const std::vector<double>& values, double truth, Rng& rng) {
  std::vector<double> means;
  for (int resample = 0; resample < 400; ++resample) {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += values[static_cast<std::size_t>(rng.below(values.size()))];
    }
    means.push_back(sum / static_cast<double>(values.size()));
  }
  return quantile_type7(means, 0.025) <= truth && truth <= quantile_type7(means, 0.975);
}

std::string_view to_string(Stop stop) {
  return stop == Stop::kAtRandom ? "at random" : stop == Stop::kAtFirstWin ? "at the first win" : "at the budget";
}

Coverage coverage(NoiseKind kind, Stop stop, double gain, int runs) {
  Coverage result;
  for (int run = 0; run < runs; ++run) {
    const auto seed = sub_seed(static_cast<std::uint64_t>(run), "coverage");
    NoisyMachine machine(kind, kSigma, seed);
    Rng order(sub_seed(seed, "order")), rng(sub_seed(seed, "stop"));
    PairTest test(kAlpha);
    std::vector<double> deciding, further;
    const std::size_t last = stop == Stop::kAtRandom ? 8 + rng.below(17) : 25;
    while (deciding.size() < last && !(stop == Stop::kAtFirstWin && test.confirmed())) {
      deciding.push_back(session(machine, gain, order));
      test.add_session(session_is_won(deciding.back(), 0.01));
    }
    for (int i = 0; i < 10; ++i) further.push_back(session(machine, gain, order));
    const auto interval = second_smallest_to_second_largest(further);
    result.fresh_sessions.add(interval->low <= gain && gain <= interval->high);
    if (test.confirmed()) {
      result.deciding_sessions.add(bootstrap_covers(deciding, gain, rng));
    }
  }
  return result;
}

Findings fresh_interval_covers(int runs) {
  Findings findings;
  for (NoiseKind kind : {NoiseKind::kIid, NoiseKind::kProcessOffset, NoiseKind::kSpikes}) {
    for (Stop stop : {Stop::kAtRandom, Stop::kAtFirstWin, Stop::kAtBudget}) {
      const auto share = coverage(kind, stop, 0.012, runs).fresh_sessions;
      findings.push_back(shown_above(
          fmt::format("reported interval covers the truth, {}, stopped {}", to_string(kind), to_string(stop)), share, 0.94));
    }
  }
  return findings;
}

Findings deciding_sessions_as_estimate(int runs) {
  const auto share = coverage(NoiseKind::kProcessOffset, Stop::kAtFirstWin, 0.02, runs).deciding_sessions;
  return {{"ablation: bootstrap over the sessions that decided covers the truth", at_most_text(share), "less than 94 %",
           share.runs > 200 && share.upper() < 0.94}};
}

using Draw = std::function<double(Rng&)>;

struct Latency {
  const char* name;
  Draw draw;
  std::function<double(double)> quantile;
};

double pareto_quantile(double p) { return std::pow(1.0 - p, -1.0 / 1.5); }

// Nine in ten requests take about 1, the others about 5.
double bimodal_quantile(double p) {
  return p < 0.9 ? 1.0 + 0.01 * normal_quantile(p / 0.9)
                 : 5.0 + 0.01 * normal_quantile((p - 0.9) / 0.1);
}

Findings percentile_bounds(int runs) {
  const Latency latencies[] = {
      {"log-normal", [](Rng& rng) { return std::exp(0.5 * rng.normal()); },
       [](double p) { return std::exp(0.5 * normal_quantile(p)); }},
      {"Pareto", [](Rng& rng) { return pareto_quantile(rng.uniform01()); }, pareto_quantile},
      {"bimodal",
       [](Rng& rng) {
         const bool slow = rng.uniform01() >= 0.9;
         return (slow ? 5.0 : 1.0) + 0.01 * rng.normal();
       },
       bimodal_quantile}};
  Findings findings;
  for (const auto& latency : latencies) {
    for (const auto& [p, n] : {std::pair{0.5, 30}, {0.95, 200}, {0.99, 700}}) {
      Share share, interpolated;
      Rng rng(sub_seed(7, latency.name));
      for (int run = 0; run < runs; ++run) {
        std::vector<double> values;
        for (int i = 0; i < n; ++i) values.push_back(latency.draw(rng));
        std::sort(values.begin(), values.end());
        const auto bound = percentile_upper_bound(values, p, 0.99);
        share.add(bound && bound->value >= latency.quantile(p));
        interpolated.add(quantile_type7(values, p) >= latency.quantile(p));
      }
      const std::string where = fmt::format("p{:.0f} of {} {} latencies", 100 * p, n, latency.name);
      findings.push_back(not_refuted_above(where + ": the 99 % bound is above the true one", share, 0.99));
      findings.push_back({"ablation: the plain sample percentile is, " + where, at_most_text(interpolated),
                          "less than 90 %", interpolated.upper() < 0.9});
    }
  }
  return findings;
}

}  // namespace

std::vector<StatisticalProof> speed_proofs() {
  return {{"T1", "Equal candidates are not told apart, whatever the noise", equal_candidates, 2000, 20000},
          {"T1", "The luckiest of many equals is no winner", luckiest_of_sixteen, 2000, 20000},
          {"T1", "Looking again and again costs nothing", sign_test_at_each_look, 2000, 20000},
          {"T1", "Interleaving is what keeps drift from making winners", without_interleaving, 2000, 5000},
          {"T1", "A process is one piece of evidence", rounds_as_evidence, 2000, 5000},
          {"T2", "Confirmation takes as many sessions as planned", sessions_as_planned, 1, 1},
          {"T2", "A gain of one sigma above the least is found", gain_of_one_sigma, 400, 5000},
          {"T3", "The reported interval covers the truth however the decision stopped", fresh_interval_covers, 2000, 20000},
          {"T3", "The sessions that decided promise too much", deciding_sessions_as_estimate, 2000, 5000},
          {"T5", "Percentile bounds hold", percentile_bounds, 2000, 5000}};
}

}  // namespace fiel
