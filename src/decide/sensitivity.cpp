#include "decide/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "decide/observe.h"
#include "gate/compare.h"
#include "decide/places.h"
#include "journal/record.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSamples = 16;
constexpr double kSeconds = 60;  // at most, and at most this share of the wall time: nothing else pays as much as precision
constexpr double kShare = 0.1;

struct Noisy {
  std::string region;
  double noise = 0;  // of rounding: an estimate
};

std::vector<Noisy> nodes_to_measure(const Lab& lab, const Rewriter& rewriter, const Ranges& ranges, const Json& observed) {
  std::vector<Noisy> in_order;
  std::vector<double> noise;
  for (std::size_t i = 0; i < rewriter.regions().size(); ++i) {
    const Region& region = rewriter.regions()[i];
    const auto range = ranges.find(region.activation);
    if (range == ranges.end()) continue;
    const double power = observed["power"][region.activation].get<double>();
    noise.push_back(rewriter.weight_noise(i, weight_bits(lab)) + Rewriter::activation_noise(range->second, power));
    in_order.push_back({region.name, noise.back()});
  }
  std::vector<Noisy> queue;
  for (const std::size_t i : likeliest_first(noise)) queue.push_back(in_order[i]);
  return queue;
}

std::vector<int> some_tuning_samples(const Lab& lab) {
  auto order = stratified_order(lab.tuning.get(), sub_seed(lab.seed, "sensitivity"));
  order.resize(std::min(order.size(), kSamples));
  return order;
}

using Expected = std::map<int, SampleOutputs>;

// The mean square of the outputs' relative L2 errors with one region alone in 8 bits.
Result<std::optional<double>> loss_of_one(Lab& lab, Bench& bench, const Rewriter& rewriter, const std::string& region,
                                          const Ranges& ranges, std::span<const int> samples, const Expected& expected) {
  const fs::path file = lab.folder / "scratch" / "one_region.onnx";
  FIEL_TRY(rewriter.write_int8(file, ranges, {.regions = {region}, .weight_bits = weight_bits(lab)}));
  double sum = 0;
  std::int64_t count = 0;
  const auto failure = FIEL_TRY(bench.run(file, lab.tuning.get(), samples, {}, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      const OutputViews now = views_of(sample);
      for (const auto& [output, tensor] : expected.at(sample.index).tensors) {
        const auto found = now.find(output);
        const double error = found == now.end() ? 1 : compare_tensor(tensor.view(), found->second, nullptr).errors.l2;
        sum += error * error;
        ++count;
      }
    }
    return true;
  }));
  if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
  if (failure || count == 0 || !std::isfinite(sum)) return std::optional<double>();
  return std::optional(sum / static_cast<double>(count));
}

// Engines call what they made of a node by its name or by what it gives.
std::map<std::string, std::string> names_of(const Rewriter& rewriter) {
  std::map<std::string, std::string> names;
  for (const Region& region : rewriter.regions()) names.emplace(region.result, region.name);
  for (const Region& region : rewriter.regions()) names.insert_or_assign(region.name, region.name);
  return names;
}

// {"losses": {region: loss}, "seconds_by_node": {region: seconds of an inference in float32}} of the regions that could be measured in the time there is.
Result<Json> measure(Lab& lab, const Rewriter& rewriter, const Ranges& ranges, std::span<const Noisy> queue) {
  return once_on_one_machine(lab, "sensitivity", "sensitivity", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    lab.progress.step(fmt::format("measuring what each of {} nodes loses in 8 bits, alone", queue.size()));
    const double limit = std::min(kSeconds, kShare * lab.contract.budget.wall_seconds);
    const auto samples = some_tuning_samples(lab);
    Expected expected;
    Json body = {{"losses", Json::object()}, {"samples", samples.size()}};
    std::optional<Bench> bench;
    bench.emplace(lab);
    auto failure = FIEL_TRY(bench->run(lab.model.path, lab.tuning.get(), samples, {}, [&](auto outputs, Last) -> Result<bool> {
      for (const SampleOutputs& sample : outputs) expected[sample.index] = sample;
      return true;
    }));
    if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    if (!failure) body["seconds_by_node"] = FIEL_TRY(bench->times_of(lab.model.path, names_of(rewriter), lab.tuning.get(), samples));
    for (const Noisy& next : queue) {
      if (failure || lab.recorder.live_seconds() - started_at > limit) break;
      if (!bench->alive()) bench.emplace(lab);
      const auto loss = FIEL_TRY(loss_of_one(lab, *bench, rewriter, next.region, ranges, samples, expected));
      if (loss) body["losses"][next.region] = *loss;
      lab.progress.status(fmt::format("sensitivity: {} of {} nodes", body["losses"].size(), queue.size()));
    }
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

// How much of its rounding noise a node's outputs lose, as a rule: the geometric mean over those that were measured.
double loss_per_noise(std::span<const Noisy> queue, const Json& losses) {
  double sum = 0;
  int count = 0;
  for (const Noisy& one : queue) {
    const double loss = losses.value(one.region, 0.0);
    if (!(loss > 0 && one.noise > 0)) continue;
    sum += std::log(loss / one.noise);
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1;
}

}  // namespace

int weight_bits(const Lab& lab) {
  const auto& features = lab.engines.at(lab.contract.engines.front().name).hello.cpu_features;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(features, [&](const std::string& one) { return one.find(name) != std::string::npos; });
  };
  return has("avx") && !has("vnni") && !has("amx_int8") ? 7 : 8;
}

Result<std::vector<NodeCost>> nodes_by_loss(Lab& lab, const Rewriter& rewriter, const Ranges& ranges, const Json& observed) {
  const auto queue = nodes_to_measure(lab, rewriter, ranges, observed);
  const Json measured = FIEL_TRY(measure(lab, rewriter, ranges, queue));
  const Json losses = object_or_empty(measured, "losses");
  std::map<std::string, double> products;
  const Json elements = object_or_empty(observed, "output_elements");
  for (std::size_t i = 0; i < rewriter.regions().size(); ++i) {
    const std::string& name = rewriter.regions()[i].name;
    products[name] = rewriter.products(i, elements.value(name, 0.0));
  }
  const Json& times = object_or_empty(measured, "seconds_by_node");
  std::vector<double> counted;
  std::vector<std::optional<double>> seconds;
  for (const Noisy& one : queue) {
    counted.push_back(products[one.region]);
    seconds.push_back(times.contains(one.region) ? std::optional(times[one.region].get<double>()) : std::nullopt);
  }
  const auto work = work_of(counted, seconds);
  const double per_noise = loss_per_noise(queue, losses);
  std::vector<NodeCost> nodes;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Noisy& one = queue[i];
    nodes.push_back({.name = one.region, .loss = losses.value(one.region, per_noise * one.noise), .work = work[i]});
  }
  return float_order(std::move(nodes));
}

}  // namespace fiel
