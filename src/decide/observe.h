// What do a model's activations look like on the calibration set? Asked of one process of the first engine, in float32, that
// runs models of ours. What was seen is recorded once a run.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "decide/lab.h"

namespace fiel {

/// One process that builds and runs one model after another on samples.
class Bench {
 public:
  explicit Bench(Lab& lab) : lab_(lab), name_(lab.contract.engines.front().name) {}
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Empty: it ran. Failure: of the process, which is dead then, or of the model. A chunk ends at each of `stops`.
  Result<std::optional<Failure>> run(const std::filesystem::path& model, const SampleSet& set, std::span<const int> samples,
                                     std::span<const std::size_t> stops, const TakeChunk& take);
  /// As run, and then what each node of `model` took of an inference, in seconds, by the engine's own count; a node of the running graph
  /// that came of several is shared out evenly between those in `nodes`, which gives the node for each name that it may go by. Empty where
  /// the engine can't tell.
  Result<std::map<std::string, double>> times_of(const std::filesystem::path& model, const std::map<std::string, std::string>& nodes,
                                                 const SampleSet& set, std::span<const int> samples);
  bool alive() const { return !live_ || live_->worker->alive(); }

 private:
  Result<std::optional<Failure>> load(const std::filesystem::path& model, bool profile);

  Lab& lab_;
  std::string name_;
  std::optional<TempFolder> folder_ = {};  // what its process builds
  std::optional<Live> live_ = {};
};

/// Calibration samples in a stratified order of the run's seed.
std::vector<int> first_samples(const Lab& lab, std::size_t at_most);

/// {"min_max": {activation: [low, high]}, "average": ..., "power": {activation: mean square}, "elements": {activation: most of a
/// sample}, "output_elements": {region: most of a sample}, "channels": {region: {"means": [of its activation by input channel],
/// "lows", "highs"}}}, or {"failure": why}. An activation that is not finite everywhere is left out.
Result<Json> observe(Lab& lab, const Rewriter& rewriter);

/// {"p9999": {activation: [low, high]}, "p999", "mse", "entropy"} from the activations' values themselves on a few samples
/// (variant/ranges.h), as far as time and memory allow; an activation that is missing has its extremes.
Result<Json> observe_values(Lab& lab, const Rewriter& rewriter, const Json& observed);

std::map<std::string, Channels> channels_of(const Json& observed);

/// The ranges that a recipe asks for: of `by_extremes` or of `by_values`.
Ranges ranges_by(const std::string& method, const Json& by_extremes, const Json& by_values);

}  // namespace fiel
