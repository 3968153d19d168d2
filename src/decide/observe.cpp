#include "decide/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/files.h"
#include "base/rng.h"
#include "journal/record.h"
#include "stats/noise.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kValuesSamples = 32;
constexpr double kValuesBytes = 64 << 20;   // of activations that one observer gives of one sample
constexpr double kMostBytes = 512 << 20;    // an activation larger than that keeps its extremes
constexpr double kValuesSeconds = 20;       // at most, and at most this share of the wall time
constexpr double kValuesShare = 0.05;

struct Method {
  const char* name;
  Range (*choose)(const Histogram&);
};
constexpr Method kMethods[] = {{"p9999", [](const Histogram& one) { return one.percentile(0.9999); }},
                               {"p999", [](const Histogram& one) { return one.percentile(0.999); }},
                               {"mse", [](const Histogram& one) { return one.least_squared_error(); }},
                               {"entropy", [](const Histogram& one) { return one.least_divergence(); }}};

// All extremes that a process saw, by output of the observer.
using Extremes = std::map<std::string, std::vector<double>>;

// A float32 scalar, or how many elements a shape has.
std::optional<double> number_of(const Tensor& tensor) {
  if (tensor.dtype == DType::kFloat32 && tensor.bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data(), sizeof value);
    return value;
  }
  if (tensor.dtype != DType::kInt64) return std::nullopt;
  std::vector<std::int64_t> dims(tensor.bytes.size() / sizeof(std::int64_t));
  if (!dims.empty()) std::memcpy(dims.data(), tensor.bytes.data(), dims.size() * sizeof(std::int64_t));
  return std::accumulate(dims.begin(), dims.end(), 1.0, [](double all, std::int64_t dim) { return all * static_cast<double>(dim); });
}

Result<std::optional<Failure>> observe_extremes(Lab& lab, const fs::path& observer, Extremes& extremes) {
  Bench bench(lab);
  return bench.run(observer, first_samples(lab, lab.calibration->samples.size()), {}, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      for (const auto& [output, tensor] : sample.tensors) {
        if (const auto value = number_of(tensor)) extremes[output].push_back(*value);
      }
    }
    return true;
  });
}

// Activations that fit into one observer's answer, in the graph's order.
std::vector<std::vector<std::string>> groups_by_size(const Rewriter& rewriter, const Json& observed) {
  std::vector<std::vector<std::string>> groups;
  double bytes = 0;
  for (const std::string& activation : rewriter.activations()) {
    const double size = object_or_empty(observed, "elements").value(activation, 0.0) * sizeof(float);
    if (!(size > 0 && size <= kMostBytes)) continue;
    if (groups.empty() || bytes + size > kValuesBytes) {
      groups.emplace_back();
      bytes = 0;
    }
    bytes += size;
    groups.back().push_back(activation);
  }
  return groups;
}

void count(std::vector<Histogram>& histograms, const SampleOutputs& sample) {
  for (std::size_t k = 0; k < histograms.size(); ++k) {
    const auto found = sample.tensors.find(Rewriter::observed_value(k));
    if (found == sample.tensors.end() || found->second.dtype != DType::kFloat32) continue;
    std::vector<float> values(found->second.bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(float));
    histograms[k].add(values);
  }
}

// Histograms of one group; fewer samples where they take longer than `seconds`.
Result<std::optional<Failure>> count_group(Lab& lab, Bench& bench, const Rewriter& rewriter, std::span<const std::string> group,
                                           std::vector<Histogram>& histograms, double seconds) {
  const fs::path observer = lab.folder / "scratch" / "values_observer.onnx";
  FIEL_TRY(rewriter.write_values_observer(observer, group));
  const auto samples = first_samples(lab, kValuesSamples);
  std::vector<std::size_t> one_by_one(samples.size());
  std::iota(one_by_one.begin(), one_by_one.end(), std::size_t{1});
  const double started_at = lab.recorder.live_seconds();
  return bench.run(observer, samples, one_by_one, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) count(histograms, sample);
    return lab.recorder.live_seconds() - started_at < seconds;
  });
}

Ranges ranges_from(const Json& body, const std::string& method) {
  Ranges ranges;
  for (const auto& [activation, range] : object_or_empty(body, method).items()) {
    ranges[activation] = {range[0].get<double>(), range[1].get<double>()};
  }
  return ranges;
}

}  // namespace

Result<std::optional<Failure>> Bench::run(const fs::path& model, std::span<const int> samples,
                                          std::span<const std::size_t> stops, const TakeChunk& take) {
  const EngineHere& engine = lab_.engines.at(name_);
  const BuildRoute route{.engine = name_, .settings = engine.hello.float32_settings};
  if (!live_) {
    auto started = start_worker(lab_, engine, route, "observe");
    if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
    live_ = Live{.id = 0, .worker = std::get<std::unique_ptr<Worker>>(std::move(started)), .loaded = {}, .batch = 1};
  }
  auto folder = FIEL_TRY(TempFolder::create(lab_.folder / "scratch", "observer-"));
  const auto settings = request_settings(lab_, route);
  auto built = request_build(*live_->worker,
                             {.model = model, .device = lab_.contract.device, .settings = settings, .shapes = lab_.shapes,
                              .artifact_dir = folder.path()},
                             deadlines_for(lab_.contract).build);
  if (auto* failure = std::get_if<Failure>(&built)) return std::optional(std::move(*failure));
  auto loaded = request_load(*live_->worker,
                             {.artifact_dir = folder.path(), .device = lab_.contract.device, .settings = settings,
                              .shapes = lab_.shapes, .scenario = Scenario::kSingleStream, .state = {}},
                             deadlines_for(lab_.contract).load);
  if (auto* failure = std::get_if<Failure>(&loaded)) return std::optional(std::move(*failure));
  return infer_set(lab_, *live_, *lab_.calibration, samples, stops, take);
}

Bench::~Bench() {
  if (live_) say_bye(*live_->worker);
}

std::vector<int> first_samples(const Lab& lab, std::size_t at_most) {
  auto order = stratified_order(*lab.calibration, sub_seed(lab.seed, "calibration"));
  order.resize(std::min(order.size(), at_most));
  return order;
}

Result<Json> observe(Lab& lab, const Rewriter& rewriter) {
  return lab.recorder.once("observe", "observe", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    lab.progress.step(fmt::format("observing the ranges of {} nodes on {} calibration samples", rewriter.regions().size(),
                                  lab.calibration->samples.size()));
    const fs::path observer = lab.folder / "scratch" / "observer.onnx";
    FIEL_TRY(rewriter.write_observer(observer));
    Extremes extremes;
    Json body = {{"calibration", lab.calibration->digest}, {"n", lab.calibration->samples.size()}};
    const auto failure = FIEL_TRY(observe_extremes(lab, observer, extremes));
    if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    if (failure) body["failure"] = failure_json(*failure);
    for (std::size_t i = 0; !failure && i < rewriter.regions().size(); ++i) {
      const auto& low = extremes[rewriter.observed_low(i)];
      const auto& high = extremes[rewriter.observed_high(i)];
      const std::string& activation = rewriter.regions()[i].activation;
      const bool finite = !low.empty() && low.size() == high.size() && std::ranges::all_of(low, [](double x) { return std::isfinite(x); }) &&
                          std::ranges::all_of(high, [](double x) { return std::isfinite(x); });
      if (!finite) continue;  // a region without a range stays in float
      body["min_max"][activation] = {std::ranges::min(low), std::ranges::max(high)};
      body["average"][activation] = {stats::mean(low), stats::mean(high)};
      body["power"][activation] = stats::mean(extremes[rewriter.observed_power(i)]);
      const auto& elements = extremes[rewriter.observed_shape(i)];
      if (!elements.empty()) body["elements"][activation] = std::ranges::max(elements);
    }
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

Result<Json> observe_values(Lab& lab, const Rewriter& rewriter, const Json& observed) {
  return lab.recorder.once("ranges", "ranges", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    const auto groups = groups_by_size(rewriter, observed);
    const Ranges extremes = ranges_from(observed, "min_max");
    const double limit = std::min(kValuesSeconds, kValuesShare * lab.contract.budget.wall_seconds);
    lab.progress.step(fmt::format("counting the values of {} activations for other ranges", extremes.size()));
    Json body = {{"n", std::min(kValuesSamples, lab.calibration->samples.size())}};
    std::optional<Bench> bench;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const double left = limit - (lab.recorder.live_seconds() - started_at);
      if (!(left > 0)) break;
      std::vector<Histogram> histograms;
      for (const std::string& activation : groups[g]) histograms.emplace_back(extremes.at(activation));
      if (!bench || !bench->alive()) bench.emplace(lab);
      const auto failure = FIEL_TRY(count_group(lab, *bench, rewriter, groups[g], histograms, left / static_cast<double>(groups.size() - g)));
      if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      if (failure) body["failure"] = failure_json(*failure);
      for (std::size_t k = 0; !failure && k < histograms.size(); ++k) {
        for (const Method& method : kMethods) {
          const Range range = method.choose(histograms[k]);
          body[method.name][groups[g][k]] = {range.low, range.high};
        }
      }
    }
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

Ranges ranges_by(const std::string& method, const Json& by_extremes, const Json& by_values) {
  if (by_extremes.contains(method) || by_values.empty()) return ranges_from(by_extremes, method);
  Ranges ranges = ranges_from(by_extremes, "min_max");
  for (const auto& [activation, range] : ranges_from(by_values, method)) ranges[activation] = range;
  return ranges;
}

}  // namespace fiel
