#include "decide/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "decide/arrivals.h"
#include "decide/signals.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr int kTimedSamples = 16;
constexpr std::int64_t kFewestArrivals = 50;
// A worker that is twice as slow as the requests come is cut short; what it did until then shows that it is overloaded.
constexpr double kMostTimesTheArrivals = 1.5;
constexpr double kGraceSeconds = 1;
// Fewer timings than these say nothing about the tail: one in ten seen ten times; one in a hundred bounded at 99 %.
constexpr std::size_t kFewestForP90 = 100;
constexpr std::size_t kFewestForP99 = 459;

double cost_of(const Contract& contract, const MeasureResult& block) {
  switch (contract.objective) {
    case Objective::kLatencyP50: return stats::median(block.latencies_seconds);
    case Objective::kLatencyP90: return stats::quantile_type7(block.latencies_seconds, 0.9);
    case Objective::kLatencyP99: return stats::quantile_type7(block.latencies_seconds, 0.99);
    case Objective::kLatencyMean: break;
    case Objective::kThroughput: return block.seconds / static_cast<double>(block.count);
  }
  return std::accumulate(block.latencies_seconds.begin(), block.latencies_seconds.end(), 0.0) /
         static_cast<double>(block.latencies_seconds.size());
}

struct BlockDone {
  double cost_seconds = 0;
  std::string overloaded = {};  // server: why
  MeasureResult measured;
  std::vector<SampleOutputs> outputs;
};

Outcome<BlockDone> measure_block(Lab& lab, Live& live, const RoundsPlan& plan, int round) {
  MeasureOrder order{.samples = {.set = lab.tuning.get(), .indices = plan.samples},
                           .scenario = lab.contract.scenario,
                           .batch = live.batch,
                           .warmup_count = plan.warmup_count,
                           .min_count = plan.min_count,
                           .min_seconds = plan.min_seconds,
                           .max_seconds = plan.max_seconds,
                           .seed = sub_seed(plan.seed, fmt::format("block/{}", round))};
  if (plan.arrivals_per_second > 0) {
    order.arrivals_seconds = poisson_arrivals({.per_second = plan.arrivals_per_second,
                                               .count = plan.min_count,
                                               .seed = sub_seed(plan.seed, fmt::format("arrivals/{}", round))});
    order.max_seconds = kMostTimesTheArrivals * order.arrivals_seconds.back() + kGraceSeconds;
  }
  live.worker->resume();
  auto answer = request_measure(*live.worker, order, order.max_seconds + deadlines_for(lab.contract).measure);
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  live.worker->pause();
  BlockDone done{.cost_seconds = 0, .overloaded = {}, .measured = std::get<MeasureResult>(std::move(answer)), .outputs = {}};
  done.cost_seconds = cost_of(lab.contract, done.measured);
  auto outputs = read_outputs(done.measured.outputs);
  if (!outputs || !(done.cost_seconds > 0)) {
    return Failure{.kind = FailureKind::kProtocol,
                   .message = outputs ? "a block without a time" : outputs.error().message,
                   .phase = "measure", .log_tail = {}, .exit_status = {}, .signal = {}};
  }
  done.outputs = std::move(*outputs);
  done.overloaded = why_overloaded({.arrivals_seconds = order.arrivals_seconds,
                                    .latencies_seconds = done.measured.latencies_seconds,
                                    .parallel = live.loaded.parallel_requests});
  return done;
}

// Nobody can disturb a scripted engine's times: they are computed, not measured.
bool computes_its_times(const Lab& lab, const Live& live) {
  return lab.engines.at(live.engine).can("computed_time");
}

struct RoundDone {
  std::vector<std::optional<BlockDone>> blocks;
  Json json;
  std::string rejected;
};

Result<RoundDone> one_round(Lab& lab, std::span<const Contender> contenders, const RoundsPlan& plan, int round,
                            RoundsResult& result) {
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(sub_seed(plan.seed, fmt::format("order/{}", round)));
  rng.shuffle(std::span(order));
  RoundDone done{.blocks = std::vector<std::optional<BlockDone>>(contenders.size()), .json = Json::array(),
                 .rejected = {}};
  std::vector<Worker*> workers;
  for (const Contender& contender : contenders) workers.push_back(contender.live->worker.get());
  Signals whole;
  for (const std::size_t i : order) {
    if (result.times[i].failure) continue;
    const Watch watch(lab, workers);
    auto block = measure_block(lab, *contenders[i].live, plan, round);
    if (auto* failure = std::get_if<Failure>(&block)) {
      FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      result.times[i].failure = std::move(*failure);
      continue;
    }
    const Signals signals = watch.stop(i);
    done.blocks[i] = std::get<BlockDone>(std::move(block));
    done.json.push_back({{"contender", contenders[i].name},
                         {"cost_seconds", done.blocks[i]->cost_seconds},
                         {"count", done.blocks[i]->measured.count},
                         {"warmup_seconds", done.blocks[i]->measured.warmup_seconds}});
    done.json.back().update(signals.json());
    if (!done.blocks[i]->overloaded.empty()) done.json.back()["overloaded"] = done.blocks[i]->overloaded;
    if (computes_its_times(lab, *contenders[i].live)) continue;
    whole.add(signals);
    if (done.rejected.empty()) done.rejected = signals.why_reject();
  }
  if (done.rejected.empty()) done.rejected = whole.why_reject();
  return done;
}

}  // namespace

RoundsPlan rounds_plan(const Lab& lab, const std::string& step) {
  RoundsPlan plan;
  plan.seed = sub_seed(lab.seed, step);
  // Percentiles need their tail: enough timings a block that three rounds of three sessions can bound them.
  if (lab.contract.objective == Objective::kLatencyP90) plan.min_count = 20;
  if (lab.contract.limits.latency_p99_seconds) plan.min_count = 52;
  if (lab.contract.objective == Objective::kLatencyP99) plan.min_count = 200;
  if (lab.contract.scenario == Scenario::kServer) {
    plan.arrivals_per_second = lab.contract.target_qps.value_or(1);
    const double least = std::ceil(plan.min_seconds * plan.arrivals_per_second);
    plan.min_count = std::max({plan.min_count, kFewestArrivals, static_cast<std::int64_t>(least)});
  }
  // The traffic's mix: each timed sample's shape is drawn by weight, then one of the samples of that shape.
  const SampleSet& set = lab.tuning.get();
  Rng rng(sub_seed(plan.seed, "samples"));
  std::vector<std::vector<int>> by_shape(lab.shapes.size());
  const auto order = stratified_order(set, sub_seed(plan.seed, "strata"));
  for (const int index : order) {
    const Sample& sample = set.samples[static_cast<std::size_t>(index)];
    for (std::size_t s = 0; s < lab.shapes.size(); ++s) {
      if (is_of_shape(lab.contract, sample, lab.shapes[s])) by_shape[s].push_back(index);
    }
  }
  double total = 0;
  for (std::size_t s = 0; s < by_shape.size(); ++s) total += by_shape[s].empty() ? 0 : lab.shapes[s].weight;
  std::vector<std::size_t> next(by_shape.size(), 0);
  const int wanted = std::min<int>(kTimedSamples, static_cast<int>(set.samples.size()));
  while (total > 0 && static_cast<int>(plan.samples.size()) < wanted) {
    double at = rng.uniform01() * total;
    for (std::size_t s = 0; s < by_shape.size(); ++s) {
      if (by_shape[s].empty()) continue;
      at -= lab.shapes[s].weight;
      if (at > 0) continue;
      plan.samples.push_back(by_shape[s][next[s]++ % by_shape[s].size()]);
      break;
    }
  }
  if (plan.samples.empty()) plan.samples.assign(order.begin(), order.begin() + wanted);
  return plan;
}

Result<RoundsResult> time_rounds(Lab& lab, std::span<const Contender> contenders, const RoundsPlan& plan) {
  RoundsResult result{.times = std::vector<ContenderTimes>(contenders.size()), .json = Json::array()};
  for (const Contender& contender : contenders) contender.live->worker->pause();
  int accepted = 0;
  for (int round = 0; accepted < plan.rounds && round < plan.rounds + plan.spare_rounds; ++round) {
    RoundDone done = FIEL_TRY(one_round(lab, contenders, plan, round, result));
    const bool keep = done.rejected.empty();
    result.json.push_back({{"blocks", std::move(done.json)}, {"rejected", done.rejected}});
    keep ? ++accepted : ++result.rejected_rounds;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      ContenderTimes& times = result.times[i];
      auto& block = done.blocks[i];
      times.all_costs_seconds.push_back(block ? std::optional(block->cost_seconds) : std::nullopt);
      times.costs_seconds.push_back(keep ? times.all_costs_seconds.back() : std::nullopt);
      if (!block) continue;
      std::ranges::move(block->outputs, std::back_inserter(times.outputs));
      if (!keep) continue;
      if (!block->overloaded.empty()) {
        ++times.overloaded_blocks;
        times.why_overloaded = block->overloaded;
      }
      const auto& latencies = block->measured.latencies_seconds;
      times.latencies_seconds.insert(times.latencies_seconds.end(), latencies.begin(), latencies.end());
      times.count += block->measured.count;
      times.seconds += block->measured.seconds;
      if (block->measured.device_p50_seconds) times.device_p50_seconds.push_back(*block->measured.device_p50_seconds);
      times.device_memory_bytes = std::max(times.device_memory_bytes, block->measured.device_memory_bytes.value_or(0));
    }
  }
  return result;
}

namespace {

using Costs = std::vector<std::optional<double>>;

std::optional<double> median_log_ratio(const Costs& base, const Costs& other) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < base.size(); ++round) {
    if (base[round] && other[round]) ratios.push_back(std::log(*base[round] / *other[round]));
  }
  if (ratios.empty()) return std::nullopt;
  return stats::median(ratios);
}

}  // namespace

std::optional<double> session_log_ratio(const RoundsResult& rounds, std::size_t base, std::size_t other) {
  return median_log_ratio(rounds.times[base].costs_seconds, rounds.times[other].costs_seconds);
}

std::optional<double> rough_log_ratio(const RoundsResult& rounds, std::size_t base, std::size_t other) {
  return median_log_ratio(rounds.times[base].all_costs_seconds, rounds.times[other].all_costs_seconds);
}

Json latency_summary(std::vector<double> latencies, double per_second) {
  std::ranges::sort(latencies);
  Json json = {
      {"count", latencies.size()},
      {"mean_seconds", std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size())},
      {"p50_seconds", stats::median(latencies)},
      {"per_second", per_second}};
  const auto tail = [&](const std::string& name, double p, std::size_t fewest) {
    if (latencies.size() < fewest) return;
    json[name + "_seconds"] = stats::quantile_type7(latencies, p);
    if (const auto bound = stats::percentile_upper_bound(latencies, p, kTailConfidence)) {
      json[name + "_at_most_seconds"] = bound->value;
    }
  };
  tail("p90", 0.9, kFewestForP90);
  tail("p99", 0.99, kFewestForP99);
  return json;
}

Json latency_json(Scenario scenario, const ContenderTimes& times) {
  if (times.latencies_seconds.empty()) return nullptr;
  Json json = latency_summary(times.latencies_seconds, static_cast<double>(times.count) / times.seconds);
  if (scenario == Scenario::kOffline) json["of"] = "batches";
  return json;
}

Json accelerator_json(const ContenderTimes& times) {
  Json json;
  if (!times.device_p50_seconds.empty()) json["p50_seconds"] = stats::median(times.device_p50_seconds);
  if (times.device_memory_bytes > 0) json["memory_bytes"] = times.device_memory_bytes;
  return json;
}

Series rounds_series(std::span<const Contender> contenders, const RoundsResult& rounds) {
  Series series;
  for (std::size_t i = 0; i < contenders.size(); ++i) series[contenders[i].name] = rounds.times[i].latencies_seconds;
  return series;
}

}  // namespace fiel
