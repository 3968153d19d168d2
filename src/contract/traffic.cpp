// Which shapes the traffic has: asked for, or the only ones that there are.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "contract/check_model.h"
#include "contract/dataset.h"

namespace fiel {
namespace {

std::optional<Shape> fixed_shape(const ModelPort& port) {
  if (!port.dims) return std::nullopt;
  Shape shape;
  for (const Dimension& dim : *port.dims) {
    if (dim.size < 0) return std::nullopt;
    shape.push_back(dim.size);
  }
  return shape;
}

/// The one shape that `port` has, by the model or by all samples.
Result<Shape> only_shape(const Contract& contract, const ModelPort& port, const SampleSet& tuning) {
  if (auto fixed = fixed_shape(port)) return std::move(*fixed);
  std::set<Shape> shapes;
  for (const Sample& sample : tuning.samples) {
    const auto found = sample.inputs.find(port.name);
    if (found != sample.inputs.end())
      shapes.insert(step_shape(contract, port.name, found->second.shape));
  }
  if (shapes.size() == 1) return *shapes.begin();
  const std::string why =
      shapes.empty()
          ? "no tuning sample has it"
          : fmt::format("the tuning samples have {} shapes, such as {} and {}", shapes.size(),
                        to_string(*shapes.begin()), to_string(*shapes.rbegin()));
  return fail(ErrorKind::kContract,
              fmt::format("{}: the model's input {} has a dynamic axis, and {}",
                          contract.place("model.path"), describe(port), why),
              fmt::format("say which shapes your traffic has: [[model.shape]] with {} = [...] and "
                          "a weight for each",
                          port.name));
}

}  // namespace

Result<std::vector<TrafficShape>> traffic_shapes(const Contract& contract, const OnnxModel& model,
                                                 const SampleSet& tuning) {
  std::vector<TrafficShape> shapes = contract.shapes;
  if (shapes.empty()) shapes.emplace_back();
  for (const ModelPort& port : model.inputs) {
    if (shapes[0].inputs.contains(port.name)) continue;  // given in one is given in all
    const Shape shape = FIEL_TRY(only_shape(contract, port, tuning));
    for (TrafficShape& traffic : shapes) traffic.inputs[port.name] = shape;
  }
  return shapes;
}

bool is_of_shape(const Contract& contract, const Sample& sample, const TrafficShape& shape) {
  return std::ranges::all_of(shape.inputs, [&](const auto& input) {
    const auto found = sample.inputs.find(input.first);
    if (found == sample.inputs.end()) return is_state_input(contract, input.first);
    return step_shape(contract, input.first, found->second.shape) == input.second;
  });
}

}  // namespace fiel
