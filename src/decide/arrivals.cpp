#include "decide/arrivals.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "base/rng.h"

namespace fiel {

std::vector<double> poisson_arrivals(const ArrivalPlan& plan) {
  FIEL_CHECK(plan.per_second > 0);
  Rng rng(plan.seed);
  std::vector<double> arrivals;
  double at = 0;
  for (std::int64_t i = 0; i < plan.count; ++i) {
    at += rng.exponential() / plan.per_second;
    arrivals.push_back(at);
  }
  return arrivals;
}

std::string why_overloaded(const ServedRequests& served) {
  const auto arrived = std::ssize(served.arrivals_seconds);
  const auto done = std::ssize(served.latencies_seconds);
  if (arrived == 0) return {};
  const double last = served.arrivals_seconds.back();
  std::int64_t finished = 0;
  for (std::size_t i = 0; i < served.latencies_seconds.size(); ++i) {
    if (served.arrivals_seconds[i] + served.latencies_seconds[i] <= last) ++finished;
  }
  const auto share = static_cast<std::int64_t>(kBacklogShare * static_cast<double>(arrived));
  const std::int64_t bound = served.parallel + std::max(kLeastBacklog, share);
  if (done == arrived && arrived - finished <= bound) return {};
  return fmt::format("{} of {} requests were unfinished when the last one arrived ({} may be), {:.4g} finished a second while "
                     "{:.4g} arrived",
                     arrived - finished, arrived, bound, static_cast<double>(finished) / last,
                     static_cast<double>(arrived) / last);
}

}  // namespace fiel
