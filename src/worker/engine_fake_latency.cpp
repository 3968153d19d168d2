#include "worker/engine_fake_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"

namespace fiel::fake {
namespace {

constexpr std::size_t kMaxInferences =
    200'000;  // a block of a script with tiny latencies must end some time

std::string settings_key(const Settings& settings) {
  std::string key;
  for (const auto& [name, value] : settings) key += fmt::format("{}={} ", name, value);
  return key;
}

// Draws the noise of one block, inference by inference.
class NoiseStream {
 public:
  NoiseStream(const Noise& noise, std::uint64_t seed) : noise_(noise), rng_(seed) {
    ar1_ = noise_.ar1_sigma * rng_.normal();
  }

  double log_factor(std::int64_t index_in_process) {
    const double index = static_cast<double>(index_in_process);
    ar1_ = noise_.ar1_rho * ar1_ +
           std::sqrt(1 - noise_.ar1_rho * noise_.ar1_rho) * noise_.ar1_sigma * rng_.normal();
    double sum = noise_.sigma * rng_.normal() + ar1_ + noise_.drift_per_inference * index;
    if (rng_.uniform01() < noise_.mode_share) sum += std::log(noise_.mode_factor);
    if (rng_.uniform01() < noise_.spike_share) sum += std::log(noise_.spike_factor);
    if (noise_.period_inferences > 0) {
      sum += noise_.period_amplitude *
             std::sin(2 * std::numbers::pi * index / noise_.period_inferences);
    }
    if (index_in_process == 0) sum += std::log(noise_.cold_factor);
    return sum;
  }

 private:
  const Noise& noise_;
  Rng rng_;
  double ar1_ = 0;
};

}  // namespace

LatencyModel::LatencyModel(const Script& script, Settings settings, std::int64_t process)
    : script_(script), settings_(std::move(settings)), key_(settings_key(settings_)) {
  if (script.noise_by_process) key_ += fmt::format("process {}", process);
}

double LatencyModel::typical_seconds(std::int64_t batch) const {
  double seconds = script_.latency_seconds;
  for (const FakeKnob& knob : script_.knobs) {
    const auto value = settings_.find(knob.name);
    if (value == settings_.end()) continue;
    const auto factor = knob.latency.find(value->second);
    if (factor != knob.latency.end()) seconds *= factor->second;
  }
  for (const Interaction& interaction : script_.interactions) {
    if (matches(interaction.when, settings_)) seconds *= interaction.latency;
  }
  return seconds * (1 + script_.batch_cost * static_cast<double>(batch - 1));
}

Block LatencyModel::measure(const BlockOrder& order) {
  const Noise& noise = script_.noise;
  const auto seed_for = [&](std::string_view use, std::string_view key) {
    return sub_seed(script_.seed, fmt::format("{}/{}/{}", use, order.seed, key));
  };
  if (!process_offset_)
    process_offset_ = noise.process_sigma * Rng(seed_for("process", key_)).normal();
  const double common = noise.common_sigma * Rng(seed_for("common", "")).normal();
  const double base = std::log(typical_seconds(order.batch)) + *process_offset_ + common +
                      noise.drift_per_block * static_cast<double>(blocks_++);
  NoiseStream stream(noise, seed_for("block", key_));

  Block block;
  for (std::int64_t i = 0; i < order.warmup_count; ++i) {
    block.warmup_seconds.push_back(std::exp(base + stream.log_factor(inferences_++)));
  }
  // Each batch goes to the request that is free first; a single stream has one request.
  std::vector<double> free_at(static_cast<std::size_t>(std::max<std::int64_t>(1, order.parallel)),
                              0.0);
  for (const double due : order.arrivals_seconds) {
    const auto first_free = std::min_element(free_at.begin(), free_at.end());
    const double start = std::max(due, *first_free);
    if (!block.latencies_seconds.empty() && start >= order.max_seconds) break;
    *first_free = start + std::exp(base + stream.log_factor(inferences_++));
    block.latencies_seconds.push_back(*first_free - due);
  }
  while (order.arrivals_seconds.empty() && block.latencies_seconds.size() < kMaxInferences) {
    const auto first_free = std::min_element(free_at.begin(), free_at.end());
    const bool enough =
        std::ssize(block.latencies_seconds) >= order.min_count && *first_free >= order.min_seconds;
    const bool late = !block.latencies_seconds.empty() && *first_free >= order.max_seconds;
    if (enough || late) break;
    block.latencies_seconds.push_back(std::exp(base + stream.log_factor(inferences_++)));
    *first_free += block.latencies_seconds.back();
  }
  block.seconds = *std::max_element(free_at.begin(), free_at.end());
  return block;
}

}  // namespace fiel::fake
