// Which inputs does each inference get, and which sample does each output belong to? Joins samples
// into batches, cuts the sequences of recurrent models into steps, and takes outputs apart again.
// Knows nothing of time or engines.
//
//   item    what runs as one: a batch of samples, or, with state, one sequence
//   step    one inference of an item; items without state have exactly one
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "worker/engine.h"
#include "worker/pack_files.h"

namespace fiel {

/// What was loaded, as far as inputs and outputs are concerned.
struct Loaded {
  LoadReport report;
  std::vector<StateLink> state;
  std::vector<std::map<std::string, Shape>>
      shapes;  // the traffic's, one step of it for recurrent models
};

struct SampleOutputs {
  std::int64_t index = 0;
  std::vector<Tensor> tensors;  // in the order of LoadReport::outputs
};

class Feed {
 public:
  /// Every sample is checked against the loaded model; errors are bad_request and name sample and
  /// input.
  static EngineResult<Feed> create(const Loaded& loaded, const std::vector<SampleFiles>& samples,
                                   std::int64_t batch);

  std::size_t item_count() const { return items_.size(); }
  std::size_t step_count(std::size_t item) const { return items_[item].steps.size(); }
  std::int64_t sample_count(std::size_t item) const;  // fillers not counted
  bool recurrent() const { return !carried_.empty(); }
  std::size_t output_count() const { return output_names_.size(); }

  /// Inputs of a step, in the order of LoadReport::inputs. Those that carry state hold the
  /// sequence's start.
  const std::vector<TensorView>& inputs(std::size_t item, std::size_t step) const {
    return items_[item].steps[step];
  }
  /// The same with the state that the step before left; `previous` must outlive the views.
  std::vector<TensorView> inputs_after(std::size_t item, std::size_t step,
                                       const std::vector<Tensor>& previous) const;

  /// The outputs of an item's steps, sample by sample.
  /// Consumes them.
  EngineResult<std::vector<SampleOutputs>> take_apart(std::size_t item,
                                                      std::vector<std::vector<Tensor>> steps) const;

 private:
  using Step = std::vector<TensorView>;
  struct Item {
    std::vector<std::int64_t> indices;
    std::vector<Step> steps;
  };
  struct Carried {
    std::size_t input;
    std::size_t output;
  };

  explicit Feed(std::vector<std::string> output_names) : output_names_(std::move(output_names)) {}
  EngineResult<> add_batch(const Loaded& loaded, std::span<const SampleFiles> samples,
                           std::int64_t batch);
  EngineResult<> add_sequence(const Loaded& loaded, const SampleFiles& sample);
  EngineResult<TensorView> read(const EnginePort& port, const SampleFiles& sample);
  EngineResult<TensorView> join(const EnginePort& port, std::span<const SampleFiles> samples,
                                std::int64_t batch);
  EngineResult<TensorView> initial_state(const Loaded& loaded, const EnginePort& port,
                                         const SampleFiles& sample);
  TensorView own_zeros(DType dtype, Shape shape);
  bool is_state(std::size_t input) const;

  std::vector<std::string> output_names_;
  std::vector<Carried> carried_;
  std::int64_t batch_ = 1;
  std::vector<Item> items_;
  // What the views point into: addresses in a deque survive growth and moves.
  PackFiles packs_;
  std::deque<Shape> shapes_;
  std::deque<std::vector<std::byte>> buffers_;
};

}  // namespace fiel
