// How could a machine misbehave while two equal candidates are timed on it?
//
// The weather for the proof tests: each model says by which factor (as a logarithm) the next timing
// is longer than the true time. Knows no candidate: all timings on one simulated machine share one
// stream, so what order they are taken in matters, as on a real one. Same seed, same weather.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/rng.h"

namespace fiel::stats {

enum class NoiseKind {
  kIid,            // independent log-normal
  kAr1,            // each timing remembers 80 % of the last one's deviation
  kLinearDrift,    // the machine slows by sigma/10 with each timing (heat), and jitters
  kTwoMode,        // jumps between two speeds, 3 sigma apart, about every 20 timings
  kSpikes,         // one timing in 20 takes up to many sigma longer
  kPeriodicLoad,   // 10 of 40 timings meet a neighbour's load of 3 sigma
  kProcessOffset,  // each process keeps a private offset of its own (layout, allocation)
};

inline constexpr std::array kAllNoiseKinds{
    NoiseKind::kIid,    NoiseKind::kAr1,          NoiseKind::kLinearDrift,  NoiseKind::kTwoMode,
    NoiseKind::kSpikes, NoiseKind::kPeriodicLoad, NoiseKind::kProcessOffset};

std::string_view to_string(NoiseKind kind);

/// A machine with one kind of noise; `sigma` is its scale in log units (0.01 is one per cent).
class NoisyMachine {
 public:
  NoisyMachine(NoiseKind kind, double sigma, std::uint64_t seed);

  /// The private log-offset of a process started now; 0 except for kProcessOffset.
  double start_process();

  /// Log-factor of the next timing on this machine.
  double next_timing();

 private:
  double jitter();

  NoiseKind kind_;
  double sigma_;
  Rng rng_;
  std::int64_t timings_ = 0;
  double state_ = 0.0;      // last deviation (kAr1) or present mode (kTwoMode)
  std::int64_t phase_ = 0;  // of the neighbour's load
};

}  // namespace fiel::stats
