#include "stats/noise_models.h"

#include <cmath>

namespace fiel::stats {
namespace {

constexpr double kMemory = 0.8;
constexpr double kJitterShare = 0.25;  // of sigma, in the models whose noise is something else
constexpr double kDriftPerTiming = 0.1;
constexpr double kModeDistance = 3.0;
constexpr double kModeSwitchChance = 0.05;
constexpr double kSpikeChance = 0.05;
constexpr double kSpikeMean = 8.0;
constexpr std::int64_t kLoadPeriod = 40;
constexpr std::int64_t kLoadLength = 10;
constexpr double kLoadHeight = 3.0;

}  // namespace

std::string_view to_string(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::kIid:
      return "iid";
    case NoiseKind::kAr1:
      return "ar1";
    case NoiseKind::kLinearDrift:
      return "linear_drift";
    case NoiseKind::kTwoMode:
      return "two_mode";
    case NoiseKind::kSpikes:
      return "spikes";
    case NoiseKind::kPeriodicLoad:
      return "periodic_load";
    case NoiseKind::kProcessOffset:
      return "process_offset";
  }
  return "unknown";
}

NoisyMachine::NoisyMachine(NoiseKind kind, double sigma, std::uint64_t seed)
    : kind_(kind), sigma_(sigma), rng_(seed) {
  phase_ = static_cast<std::int64_t>(rng_.below(kLoadPeriod));
  if (kind_ == NoiseKind::kAr1) state_ = sigma_ * rng_.normal();
}

double NoisyMachine::start_process() {
  return kind_ == NoiseKind::kProcessOffset ? sigma_ * rng_.normal() : 0.0;
}

double NoisyMachine::jitter() { return kJitterShare * sigma_ * rng_.normal(); }

double NoisyMachine::next_timing() {
  const auto time = static_cast<double>(timings_++);
  switch (kind_) {
    case NoiseKind::kIid:
      return sigma_ * rng_.normal();
    case NoiseKind::kAr1:
      // The innovation is scaled so that the deviations keep the standard deviation sigma.
      state_ = kMemory * state_ + std::sqrt(1.0 - kMemory * kMemory) * sigma_ * rng_.normal();
      return state_;
    case NoiseKind::kLinearDrift:
      return kDriftPerTiming * sigma_ * time + jitter();
    case NoiseKind::kTwoMode:
      if (rng_.uniform01() < kModeSwitchChance) state_ = kModeDistance * sigma_ - state_;
      return state_ + jitter();
    case NoiseKind::kSpikes: {
      const bool spike = rng_.uniform01() < kSpikeChance;
      return jitter() + (spike ? kSpikeMean * sigma_ * rng_.exponential() : 0.0);
    }
    case NoiseKind::kPeriodicLoad: {
      const bool loaded = (timings_ + phase_) % kLoadPeriod < kLoadLength;
      return jitter() + (loaded ? kLoadHeight * sigma_ : 0.0);
    }
    case NoiseKind::kProcessOffset:
      return jitter();
  }
  return 0.0;
}

}  // namespace fiel::stats
