// One route by itself, without a search: is it accurate (check), is it faster than the baseline (bench)? Neither ever
// reads a hold-out.
#pragma once

#include <string>

#include "decide/lab.h"

namespace fiel {

/// Builds a route and makes it the reference that the others are judged by.
Result<> prepare_reference(Lab& lab, const BuildRoute& route);

/// Builds a candidate, unless it was, and judges it in full on the tuning set. False: it is out, its status says why.
Result<bool> build_and_judge(Lab& lab, int id);

struct CheckResult {
  int id = 0;
  bool admissible = false;  // provisionally, on the tuning set
};

/// Builds the route and judges it in full on the tuning set against the reference.
Result<CheckResult> check_route(Lab& lab, const std::string& route);

/// The same for what the user runs today: the contract's baseline.
Result<CheckResult> check_baseline(Lab& lab);

struct BenchResult {
  int id = 0;
  bool admissible = false;   // if not, it was not timed: the time of a wrong answer means nothing
  bool baseline_admissible = false;
  std::string baseline_route;
  std::vector<double> log_ratios;  // one a session
  bool faster = false;       // by more than min_gain, by the e-process at the contract's confidence
  double e_value = 0;
};

/// check_route, then sessions against the baseline until it is decided or `max_sessions` are done.
Result<BenchResult> bench_route(Lab& lab, const std::string& route, int max_sessions);

}  // namespace fiel
