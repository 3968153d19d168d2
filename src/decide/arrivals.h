// The server scenario's open loop: when requests are due, and whether a worker kept up with them. Knows times, no worker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fiel {

struct ArrivalPlan {
  double per_second = 0;
  std::int64_t count = 0;
  std::uint64_t seed = 0;  // its own: the same requests come to every contender of a round
};

/// A Poisson process: independent exponential gaps, the first one before the first request.
std::vector<double> poisson_arrivals(const ArrivalPlan& plan);

/// Requests that may be unfinished when the last one arrives, beside those that are being served: a tenth of them all and
/// at least so many. More of them, and the queue was growing: the worker finishes fewer a second than arrive.
inline constexpr double kBacklogShare = 0.1;
inline constexpr std::int64_t kLeastBacklog = 16;

struct ServedRequests {
  std::span<const double> arrivals_seconds;
  std::span<const double> latencies_seconds;  // of the first ones; the rest was never begun
  std::int64_t parallel = 1;
};

/// Why a block was too much for a worker, with numbers; empty: it kept up.
std::string why_overloaded(const ServedRequests& served);

}  // namespace fiel
