// Where do random choices come from, so that the same seed gives the same decisions everywhere?
//
// Knows nothing of what the numbers are used for. One master seed lies in the journal; every use
// has a named sub-seed of its own (search, order, bootstrap, data), so that one more draw in one
// place moves nothing elsewhere. std::<random> distributions are not used: each standard library
// draws differently. Integers, coins and shuffles are the same bits on every compiler; normal() and
// exponential() may differ in the last bit where the C library's log and cos do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace fiel {

/// The next number of the splitmix64 sequence (Steele, Lea & Flood 2014); advances the state.
/// From state 1234567 the first is 6457827717110365317.
std::uint64_t splitmix64(std::uint64_t& state);

/// A seed for one named use. Stable for ever: FNV-1a of the name, mixed with the master seed.
/// Worked number: sub_seed(0, "search") = 10859245866107039854.
std::uint64_t sub_seed(std::uint64_t master, std::string_view name);

/// xoshiro256** (Blackman & Vigna 2018), its state filled by splitmix64. From state {1, 2, 3, 4}
/// the first outputs are 11520, 0, 1509978240; from seed 0 the first is 0x99ec5f36cb75f2b4.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  static Rng from_state(const std::array<std::uint64_t, 4>& state);

  std::uint64_t next();

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform01();

  /// Uniform in 0 .. n-1 without bias; n must not be 0.
  std::uint64_t below(std::uint64_t n);

  /// True or false, one half each.
  bool coin();

  /// Standard normal (Box & Muller 1958; uses two uniforms, keeps none back).
  double normal();

  /// Exponential with mean 1.
  double exponential();

  /// All orders equally likely (Fisher & Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  Rng() = default;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace fiel
