#include "decide/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/files.h"
#include "base/rng.h"
#include "decide/places.h"
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

// What an observer's output was on all samples.
struct Seen {
  std::vector<double> numbers;        // of a scalar, or how many elements a shape has: one a sample
  std::vector<double> sums, smallest, largest;  // of a vector, by element
  std::int64_t count = 0;

  /// `steps`: leading axes of the tensor that count the steps of a sequence, 0 or 1.
  void add(const Tensor& tensor, std::size_t steps);
};
using Observed = std::map<std::string, Seen>;  // by output of the observer

template <class T>
std::vector<T> elements_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

void Seen::add(const Tensor& tensor, std::size_t steps) {
  if (tensor.shape.size() < steps) return;
  std::size_t width = 1;  // of what one step gave
  for (std::size_t axis = steps; axis < tensor.shape.size(); ++axis) width *= static_cast<std::size_t>(tensor.shape[axis]);
  if (width == 0) return;
  if (tensor.dtype == DType::kInt64) {
    const auto dims = elements_of<std::int64_t>(tensor);
    for (std::size_t i = 0; i + width <= dims.size(); i += width) {
      double elements = 1;
      for (std::size_t k = 0; k < width; ++k) elements *= static_cast<double>(dims[i + k]);
      numbers.push_back(elements);
    }
  }
  if (tensor.dtype != DType::kFloat32) return;
  const auto values = elements_of<float>(tensor);
  if (width == 1) numbers.insert(numbers.end(), values.begin(), values.end());
  sums.resize(width);
  smallest.resize(width, std::numeric_limits<double>::infinity());
  largest.resize(width, -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t k = i % width;
    sums[k] += values[i];
    smallest[k] = std::min<double>(smallest[k], values[i]);
    largest[k] = std::max<double>(largest[k], values[i]);
  }
  count += static_cast<std::int64_t>(values.size() / width);
}

std::size_t steps_of(const Lab& lab) { return lab.contract.state.empty() ? 0 : 1; }

std::set<std::string> state_outputs(const Lab& lab) {
  std::set<std::string> names;
  for (const StateLink& link : lab.contract.state) names.insert(link.output);
  return names;
}

Result<std::optional<Failure>> observe_all(Lab& lab, const fs::path& observer, Observed& seen) {
  Bench bench(lab);
  const SampleSet& set = *lab.calibration;
  return bench.run(observer, set, first_samples(lab, set.samples.size()), {}, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      for (const auto& [output, tensor] : sample.tensors) seen[output].add(tensor, steps_of(lab));
    }
    return true;
  });
}

bool all_finite(const std::vector<double>& values) {
  return !values.empty() && std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

// Six digits: they are many, and what they are for is rough.
Json short_numbers(std::vector<double> values, double per) {
  for (double& value : values) value = std::strtod(fmt::format("{:.6g}", value / per).c_str(), nullptr);
  return values;
}

// What was seen of one region and its activation, into the record's tables.
void tell(Json& body, const Rewriter& rewriter, std::size_t i, Observed& seen) {
  const std::string& activation = rewriter.regions()[i].activation;
  const std::string& region = rewriter.regions()[i].name;
  const auto& low = seen[rewriter.observed_low(i)].numbers;
  const auto& high = seen[rewriter.observed_high(i)].numbers;
  if (!all_finite(low) || !all_finite(high)) return;  // a region without a range stays in float
  body["min_max"][activation] = {std::ranges::min(low), std::ranges::max(high)};
  body["average"][activation] = {stats::mean(low), stats::mean(high)};
  body["power"][activation] = stats::mean(seen[rewriter.observed_power(i)].numbers);
  const auto& least = seen[rewriter.observed_result_low(i)].numbers;
  const auto& greatest = seen[rewriter.observed_result_high(i)].numbers;
  if (rewriter.observes_result(i) && all_finite(least) && all_finite(greatest)) {
    const std::string& result = rewriter.regions()[i].result;
    body["min_max"][result] = {std::ranges::min(least), std::ranges::max(greatest)};
    body["average"][result] = {stats::mean(least), stats::mean(greatest)};
  }
  const auto most = [](const Seen& shape) { return shape.numbers.empty() ? 0 : std::ranges::max(shape.numbers); };
  body["elements"][activation] = most(seen[rewriter.observed_shape(i)]);
  body["output_elements"][region] = most(seen[rewriter.observed_output_shape(i)]);
  const Seen& means = seen[rewriter.observed_means(i)];
  const Seen& lows = seen[rewriter.observed_lows(i)];
  const Seen& highs = seen[rewriter.observed_highs(i)];
  if (!all_finite(means.sums) || !all_finite(lows.smallest) || !all_finite(highs.largest)) return;
  body["channels"][region] = {{"means", short_numbers(means.sums, static_cast<double>(means.count))},
                              {"lows", short_numbers(lows.smallest, 1)}, {"highs", short_numbers(highs.largest, 1)}};
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
    histograms[k].add(elements_of<float>(found->second));
  }
}

// Histograms of one group; fewer samples where they take longer than `seconds`.
Result<std::optional<Failure>> count_group(Lab& lab, Bench& bench, const Rewriter& rewriter, std::span<const std::string> group,
                                           std::vector<Histogram>& histograms, double seconds) {
  const fs::path observer = lab.folder / "scratch" / "values_observer.onnx";
  FIEL_TRY(rewriter.write_values_observer(observer, group, state_outputs(lab)));
  const auto samples = first_samples(lab, kValuesSamples);
  std::vector<std::size_t> one_by_one(samples.size());
  std::iota(one_by_one.begin(), one_by_one.end(), std::size_t{1});
  const double started_at = lab.recorder.live_seconds();
  return bench.run(observer, *lab.calibration, samples, one_by_one, [&](auto outputs, Last) -> Result<bool> {
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

Result<std::optional<Failure>> Bench::load(const fs::path& model, bool profile) {
  const EngineHere& engine = lab_.engines.at(name_);
  const BuildRoute route{.engine = name_, .settings = engine.hello.float32_settings};
  if (!live_) {
    folder_ = FIEL_TRY(TempFolder::create(lab_.folder / "scratch", "observers-"));  // all that its worker may write to
    auto started = start_worker(lab_, engine, route, "observe", folder_->path());
    if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
    live_ = Live{.id = 0, .worker = std::get<std::unique_ptr<Worker>>(std::move(started)), .loaded = {}, .batch = 1};
  }
  auto folder = FIEL_TRY(TempFolder::create(folder_->path(), "observer-"));
  const auto settings = request_settings(lab_, route);
  auto built = request_build(*live_->worker,
                             {.model = model, .device = lab_.contract.device, .settings = settings, .shapes = lab_.shapes,
                              .artifact_dir = folder.path()},
                             deadlines_for(lab_.contract).build);
  if (auto* failure = std::get_if<Failure>(&built)) return std::optional(std::move(*failure));
  auto loaded = request_load(*live_->worker,
                             {.artifact_dir = folder.path(), .device = lab_.contract.device, .settings = settings,
                              .shapes = lab_.shapes, .scenario = Scenario::kSingleStream, .state = lab_.contract.state,
                              .profile = profile},
                             deadlines_for(lab_.contract).load);
  if (auto* failure = std::get_if<Failure>(&loaded)) return std::optional(std::move(*failure));
  return std::optional<Failure>();
}

Result<std::optional<Failure>> Bench::run(const fs::path& model, const SampleSet& set, std::span<const int> samples,
                                          std::span<const std::size_t> stops, const TakeChunk& take) {
  if (auto failure = FIEL_TRY(load(model, false))) return failure;
  return infer_set(lab_, *live_, set, samples, stops, take);
}

Result<std::map<std::string, double>> Bench::times_of(const fs::path& model, const std::map<std::string, std::string>& nodes,
                                                      const SampleSet& set, std::span<const int> samples) {
  std::map<std::string, double> times;
  if (!lab_.engines.at(name_).can("profile")) return times;
  auto failure = FIEL_TRY(load(model, true));
  if (!failure) failure = FIEL_TRY(infer_set(lab_, *live_, set, samples, {}, [](auto, Last) -> Result<bool> { return true; }));
  if (failure) return times;
  const auto told = request_profile(*live_->worker, deadlines_for(lab_.contract).load);
  if (std::holds_alternative<Failure>(told)) return times;
  for (const NodeSeconds& node : std::get<std::vector<NodeSeconds>>(told)) {
    std::set<std::string> ours;
    for (const std::string& name : node.names) {
      if (const auto found = nodes.find(name); found != nodes.end()) ours.insert(found->second);
    }
    for (const std::string& name : ours) times[name] += node.seconds / static_cast<double>(ours.size());
  }
  return times;
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
  return once_on_one_machine(lab, "observe", "observe", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    lab.progress.step(fmt::format("observing the ranges of {} nodes on {} calibration samples", rewriter.regions().size(),
                                  lab.calibration->samples.size()));
    const fs::path observer = lab.folder / "scratch" / "observer.onnx";
    FIEL_TRY(rewriter.write_observer(observer, state_outputs(lab)));
    Observed seen;
    Json body = {{"calibration", lab.calibration->digest}, {"n", lab.calibration->samples.size()}};
    const auto failure = FIEL_TRY(observe_all(lab, observer, seen));
    if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    if (failure) body["failure"] = failure_json(*failure);
    for (std::size_t i = 0; !failure && i < rewriter.regions().size(); ++i) tell(body, rewriter, i, seen);
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

Result<Json> observe_values(Lab& lab, const Rewriter& rewriter, const Json& observed) {
  return once_on_one_machine(lab, "ranges", "ranges", [&]() -> Result<Record> {
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

std::map<std::string, Channels> channels_of(const Json& observed) {
  std::map<std::string, Channels> channels;
  for (const auto& [region, body] : object_or_empty(observed, "channels").items()) {
    channels[region] = {.means = body["means"], .lows = body["lows"], .highs = body["highs"]};
  }
  return channels;
}

Ranges ranges_by(const std::string& method, const Json& by_extremes, const Json& by_values) {
  if (by_extremes.contains(method) || by_values.empty()) return ranges_from(by_extremes, method);
  Ranges ranges = ranges_from(by_extremes, "min_max");
  for (const auto& [activation, range] : ranges_from(by_values, method)) ranges[activation] = range;
  return ranges;
}

}  // namespace fiel
