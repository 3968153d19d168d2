#include "contract/check_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/nearest.h"

namespace fiel {
namespace {

std::vector<std::string> names_of(const std::vector<ModelPort>& ports) {
  std::vector<std::string> names;
  for (const ModelPort& port : ports) names.push_back(port.name);
  return names;
}

struct IntegerLimits {
  std::int64_t low;
  std::int64_t high;
};

template <class T>
IntegerLimits limits() {
  return {
      static_cast<std::int64_t>(std::numeric_limits<T>::min()),
      static_cast<std::int64_t>(std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX))};
}

std::optional<IntegerLimits> limits_of(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return limits<std::int64_t>();
    case DType::kInt32:
      return limits<std::int32_t>();
    case DType::kInt16:
      return limits<std::int16_t>();
    case DType::kInt8:
      return limits<std::int8_t>();
    case DType::kUInt64:
      return limits<std::uint64_t>();
    case DType::kUInt32:
      return limits<std::uint32_t>();
    case DType::kUInt16:
      return limits<std::uint16_t>();
    case DType::kUInt8:
      return limits<std::uint8_t>();
    case DType::kBool:
      return IntegerLimits{0, 1};
    case DType::kFloat64:
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  return std::nullopt;
}

/// Collects what does not fit, each with its place in the contract.
class Findings {
 public:
  explicit Findings(const Contract& contract) : contract_(contract) {}

  void add(const std::string& key, std::string_view message) {
    const auto line = contract_.lines.find(key);
    findings_.emplace_back(line == contract_.lines.end() ? 0 : line->second,
                           fmt::format("{}: {}", contract_.place(key), message));
  }

  Result<> result(const OnnxModel& model) {
    if (findings_.empty()) return {};
    std::ranges::stable_sort(findings_, {}, &std::pair<int, std::string>::first);
    std::string message;
    for (const auto& [line, text] : findings_) message += (message.empty() ? "" : "\n") + text;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    for (const ModelPort& port : model.inputs) inputs.push_back(describe(port));
    for (const ModelPort& port : model.outputs) outputs.push_back(describe(port));
    return fail(ErrorKind::kContract, message,
                fmt::format("the model takes {} and gives {}", fmt::join(inputs, ", "),
                            fmt::join(outputs, ", ")));
  }

 private:
  const Contract& contract_;
  std::vector<std::pair<int, std::string>> findings_;
};

void check_ports(const OnnxModel& model, Findings& findings) {
  for (const ModelPort& port : model.inputs) {
    if (!port.dtype)
      findings.add(
          "model.path",
          fmt::format("the model's input {} is of a type that fiel cannot feed", describe(port)));
  }
  for (const ModelPort& port : model.outputs) {
    if (!port.dtype)
      findings.add(
          "model.path",
          fmt::format("the model's output {} is of a type that fiel cannot judge", describe(port)));
  }
}

void check_shapes(const Contract& contract, const OnnxModel& model, Findings& findings) {
  for (std::size_t i = 0; i < contract.shapes.size(); ++i) {
    for (const auto& [name, shape] : contract.shapes[i].inputs) {
      const std::string key = fmt::format("model.shape[{}].{}", i, name);
      const ModelPort* port = find_port(model.inputs, name);
      if (port == nullptr) {
        findings.add(key, fmt::format("the model has no input '{}': {}", name,
                                      did_you_mean(name, names_of(model.inputs))));
      } else if (!fits(*port, shape)) {
        findings.add(key, fmt::format("the shape {} does not fit the model's input {}",
                                      to_string(shape), describe(*port)));
      }
    }
  }
}

void check_ranges(const Contract& contract, const OnnxModel& model, Findings& findings) {
  for (const auto& [name, range] : contract.input_ranges) {
    const std::string key = fmt::format("model.input.{}", name);
    const ModelPort* port = find_port(model.inputs, name);
    if (port == nullptr) {
      findings.add(key, fmt::format("the model has no input '{}': {}", name,
                                    did_you_mean(name, names_of(model.inputs))));
      continue;
    }
    if (!port->dtype) continue;
    const auto allowed = limits_of(*port->dtype);
    if (!allowed) {
      findings.add(key + ".range",
                   fmt::format("a range is for integer inputs, and {} is {}: leave it out", name,
                               to_string(*port->dtype)));
    } else if (range.low < allowed->low || range.high > allowed->high) {
      findings.add(key + ".range", fmt::format("{} to {} is more than {} can hold", range.low,
                                               range.high, to_string(*port->dtype)));
    }
  }
}

void check_states(const Contract& contract, const OnnxModel& model, Findings& findings) {
  for (std::size_t i = 0; i < contract.state.size(); ++i) {
    const StateLink& link = contract.state[i];
    const std::string key = fmt::format("model.state[{}]", i);
    const ModelPort* output = find_port(model.outputs, link.output);
    const ModelPort* input = find_port(model.inputs, link.input);
    if (output == nullptr) {
      findings.add(key + ".output",
                   fmt::format("the model has no output '{}': {}", link.output,
                               did_you_mean(link.output, names_of(model.outputs))));
    }
    if (input == nullptr) {
      findings.add(key + ".input", fmt::format("the model has no input '{}': {}", link.input,
                                               did_you_mean(link.input, names_of(model.inputs))));
    }
    if (output == nullptr || input == nullptr) continue;
    if (output->dtype != input->dtype) {
      findings.add(key + ".input", fmt::format("{} cannot feed {}: their types differ",
                                               describe(*output), describe(*input)));
    }
    bool same = !output->dims || !input->dims || output->dims->size() == input->dims->size();
    for (std::size_t axis = 0; same && output->dims && input->dims && axis < input->dims->size();
         ++axis) {
      const std::int64_t from = (*output->dims)[axis].size;
      const std::int64_t to = (*input->dims)[axis].size;
      same = from < 0 || to < 0 || from == to;
    }
    if (!same)
      findings.add(key + ".input", fmt::format("{} cannot feed {}: their shapes differ",
                                               describe(*output), describe(*input)));
  }
  if (contract.state.size() >= model.inputs.size() && !contract.state.empty()) {
    findings.add(
        "model.state[0]",
        "every input of the model is a state, so no sample could say how many steps there are");
  }
}

void check_outputs(const Contract& contract, const OnnxModel& model, Findings& findings) {
  const auto check = [&](const std::string& key, const std::string& name) {
    if (name.empty() || find_port(model.outputs, name) != nullptr) return;
    findings.add(key, fmt::format("the model has no output '{}': {}", name,
                                  did_you_mean(name, names_of(model.outputs))));
  };
  for (std::size_t i = 0; i < contract.accuracy.tensors.size(); ++i) {
    check(fmt::format("accuracy.tensor[{}].output", i), contract.accuracy.tensors[i].output);
  }
  for (std::size_t i = 0; i < contract.accuracy.tasks.size(); ++i) {
    check(fmt::format("accuracy.task[{}].output", i), contract.accuracy.tasks[i].output);
  }
}

/// Values of a declared range; one that lies outside would be undefined behaviour in many a Gather.
Result<> check_range(const std::string& name, const Tensor& tensor, const InputRange& range) {
  const auto count = *element_count(tensor.shape);
  const bool is_unsigned = tensor.dtype == DType::kUInt64;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = integer_element(tensor.view(), i);
    const bool wrapped = is_unsigned && value < 0;  // above INT64_MAX
    if (wrapped || value < range.low || value > range.high) {
      return refuse(
          fmt::format(
              "input '{}' has the value {} at element {}, outside its declared range {} to {}",
              name,
              wrapped ? fmt::format("{}", static_cast<std::uint64_t>(value))
                      : fmt::format("{}", value),
              i, range.low, range.high),
          fmt::format("correct the sample, or [model.input.{}] range", name));
    }
  }
  return {};
}

Result<> check_input(const Contract& contract, const ModelPort& port, const Tensor& tensor) {
  if (tensor.dtype != port.dtype) {
    return refuse(fmt::format("input '{}' is {}, but the model takes {}", port.name,
                              to_string(tensor.dtype), describe(port)),
                  fmt::format("save it as that type: array.astype(\"{}\")",
                              port.dtype ? to_string(*port.dtype) : "?"));
  }
  const bool has_steps = !contract.state.empty() && !is_state_input(contract, port.name);
  if (has_steps && (tensor.shape.empty() || tensor.shape[0] < 1)) {
    return refuse(fmt::format("input '{}' is {}, but a sequence needs a leading axis of steps",
                              port.name, to_string(tensor.shape)),
                  "with [[model.state]] each sample is a sequence: [steps, ...]");
  }
  if (!fits(port, step_shape(contract, port.name, tensor.shape))) {
    return refuse(fmt::format("input '{}' has the shape {}, but {}the model takes {}", port.name,
                              to_string(tensor.shape), has_steps ? "behind its axis of steps " : "",
                              describe(port)),
                  "the batch axis is part of the shape: array[None] puts one in front");
  }
  const auto range = contract.input_ranges.find(port.name);
  if (range != contract.input_ranges.end()) FIEL_TRY(check_range(port.name, tensor, range->second));
  return {};
}

Result<> check_steps(const Contract& contract, const std::map<std::string, Tensor>& inputs) {
  if (contract.state.empty()) return {};
  const std::string* first = nullptr;
  for (const auto& [name, tensor] : inputs) {
    if (is_state_input(contract, name)) continue;
    if (first == nullptr) first = &name;
    if (tensor.shape[0] != inputs.at(*first).shape[0]) {
      return refuse(fmt::format("input '{}' has {} steps, but '{}' has {}", name, tensor.shape[0],
                                *first, inputs.at(*first).shape[0]),
                    "all inputs of a sequence have the same number of steps");
    }
  }
  return {};
}

Result<> check_traffic(const Contract& contract, const std::map<std::string, Tensor>& inputs) {
  if (contract.shapes.empty()) return {};
  const auto is_sample = [&](const TrafficShape& shape) {
    return std::ranges::all_of(shape.inputs, [&](const auto& input) {
      const auto found = inputs.find(input.first);
      // A state that is left out starts at zeros, in the traffic's shape.
      return found == inputs.end() ||
             step_shape(contract, input.first, found->second.shape) == input.second;
    });
  };
  if (std::ranges::any_of(contract.shapes, is_sample)) return {};
  std::vector<std::string> shapes;
  for (const auto& [name, tensor] : inputs) {
    if (contract.shapes[0].inputs.contains(name)) {
      shapes.push_back(
          fmt::format("{} = {}", name, to_string(step_shape(contract, name, tensor.shape))));
    }
  }
  return refuse(fmt::format("its shapes ({}) are none of the contract's [[model.shape]] tables",
                            fmt::join(shapes, ", ")),
                "add a [[model.shape]] with a weight for them, or leave such samples out");
}

}  // namespace

bool fits(const ModelPort& port, const Shape& shape) {
  if (!port.dims) return true;
  if (port.dims->size() != shape.size()) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t size = (*port.dims)[axis].size;
    if (size >= 0 && size != shape[axis]) return false;
  }
  return true;
}

bool is_state_input(const Contract& contract, std::string_view name) {
  return std::ranges::any_of(contract.state,
                             [name](const StateLink& link) { return link.input == name; });
}

Shape step_shape(const Contract& contract, std::string_view input, const Shape& shape) {
  if (contract.state.empty() || is_state_input(contract, input) || shape.empty()) return shape;
  return Shape(shape.begin() + 1, shape.end());
}

namespace {

void check_names(const std::vector<ModelPort>& own, const std::vector<ModelPort>& wanted, const std::string& key,
                 std::string_view kind, Findings& findings) {
  for (const ModelPort& port : wanted) {
    if (find_port(own, port.name) == nullptr) findings.add(key, fmt::format("it lacks the model's {} '{}'", kind, port.name));
  }
  for (const ModelPort& port : own) {
    if (find_port(wanted, port.name) == nullptr) {
      findings.add(key, fmt::format("it has an {} '{}' that the model lacks", kind, port.name));
    }
  }
}

// Other formats only an engine can read, and it says so when it builds.
void check_variants(const Contract& contract, const OnnxModel& model, Findings& findings) {
  for (std::size_t i = 0; i < contract.variants.size(); ++i) {
    const VariantFile& file = contract.variants[i];
    if (file.model.extension() != ".onnx") continue;  // a program's is not made yet, either
    const std::string key = fmt::format("variant[{}].model", i);
    const auto own = read_onnx_model(file.model);
    if (!own) {
      findings.add(key, own.error().message);
      continue;
    }
    check_names(own->inputs, model.inputs, key, "input", findings);
    check_names(own->outputs, model.outputs, key, "output", findings);
  }
}

}  // namespace

Result<> check_contract(const Contract& contract, const OnnxModel& model) {
  Findings findings(contract);
  check_ports(model, findings);
  check_shapes(contract, model, findings);
  check_ranges(contract, model, findings);
  check_states(contract, model, findings);
  check_outputs(contract, model, findings);
  check_variants(contract, model, findings);
  return findings.result(model);
}

Result<> check_inputs(const Contract& contract, const OnnxModel& model,
                      const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs) {
    if (find_port(model.inputs, name) == nullptr) {
      return refuse(fmt::format("it has an array '{}', but the model has no such input", name),
                    did_you_mean(name, names_of(model.inputs)));
    }
  }
  for (const ModelPort& port : model.inputs) {
    const auto found = inputs.find(port.name);
    if (found != inputs.end()) {
      FIEL_TRY(check_input(contract, port, found->second));
    } else if (!is_state_input(contract, port.name)) {
      return refuse(fmt::format("it lacks the model's input {}", describe(port)),
                    "array names are input names; inputs are never made up");
    }
  }
  FIEL_TRY(check_steps(contract, inputs));
  return check_traffic(contract, inputs);
}

}  // namespace fiel
