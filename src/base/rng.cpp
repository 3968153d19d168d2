#include "base/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/result.h"

namespace fiel {

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t sub_seed(std::uint64_t master, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3u;
  }
  // Mixing the master first keeps sub_seed(m, a) and sub_seed(m + 1, a) unrelated.
  std::uint64_t state = master;
  state = splitmix64(state) ^ hash;
  return splitmix64(state);
}

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

Rng Rng::from_state(const std::array<std::uint64_t, 4>& state) {
  Rng rng;
  rng.state_ = state;
  return rng;
}

std::uint64_t Rng::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[1] * 5, 7) * 9;
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double Rng::uniform01() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t n) {
  FIEL_CHECK(n > 0);
  // The 2^64 mod n lowest numbers are drawn again, so that each remainder is equally likely.
  const std::uint64_t unfair = (0 - n) % n;
  for (;;) {
    const std::uint64_t drawn = next();
    if (drawn >= unfair) return drawn % n;
  }
}

bool Rng::coin() { return (next() >> 63) != 0; }

double Rng::normal() {
  // Two statements: the order in which operands are evaluated is the compiler's choice.
  const double radius = std::sqrt(2.0 * exponential());
  const double angle = 2.0 * std::numbers::pi * uniform01();
  return radius * std::cos(angle);
}

double Rng::exponential() { return -std::log(1.0 - uniform01()); }

}  // namespace fiel
