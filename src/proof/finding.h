// What a proof found: one line of a table, and whether the promise holds. Short in `./test`, long in bench/proofs, which
// prints the same lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fiel {

struct Finding {
  std::string what;      // "false wins, AR(1) noise, 2 names"
  std::string measured;  // "1.2 % of 2,000 runs, at most 1.7 %"
  std::string limit;     // "at most 5 %"; of an ablation what it must break
  bool holds = false;
};

using Findings = std::vector<Finding>;

/// Hits among runs, with one-sided 95 % bounds (Clopper & Pearson 1934).
struct Share {
  int hits = 0;
  int runs = 0;
  void add(bool hit) {
    hits += hit ? 1 : 0;
    runs += 1;
  }
  double rate() const { return runs > 0 ? static_cast<double>(hits) / runs : 0.0; }
  double upper() const;
  double lower() const;
};

/// "1.2 % of 2,000 runs (at most 1.7 %)"
std::string at_most_text(const Share& share);
std::string at_least_text(const Share& share);

/// The promise `share` <= limit, shown by the upper bound.
Finding shown_below(std::string what, const Share& share, double limit);
/// The promise `share` >= limit, shown by the lower bound.
Finding shown_above(std::string what, const Share& share, double limit);
/// The same without proof: only a lower (upper) bound on the wrong side would refute it. For limits that the truth touches.
Finding not_refuted_below(std::string what, const Share& share, double limit);
Finding not_refuted_above(std::string what, const Share& share, double limit);
/// shown_below where there are runs enough to show it, not_refuted_below in the short form.
Finding below(std::string what, const Share& share, double limit);
/// An exact probability, no simulation.
Finding exact_below(std::string what, double probability, double limit);
Finding exact_above(std::string what, double probability, double limit);

/// A proof: its name, and what it finds at so many runs a case.
struct StatisticalProof {
  std::string id;     // "T1"
  std::string title;  // "Equal candidates are not told apart"
  std::function<Findings(int runs)> find;
  int short_runs = 0;  // in ./test
  int long_runs = 0;   // in bench/proofs --long
};

}  // namespace fiel
