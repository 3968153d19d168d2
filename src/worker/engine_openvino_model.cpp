#include "worker/engine_openvino_model.h"

#include <fmt/format.h>

#include "worker/guard.h"
#include "worker/wanted_shapes.h"

namespace fiel {
namespace {

std::unexpected<EngineError> unsupported(std::string message) {
  return engine_fail("unsupported", std::move(message));
}

}  // namespace

std::optional<DType> to_dtype(const ov::element::Type& type) {
  switch (ov::element::Type_t(type)) {
    case ov::element::Type_t::f64:
      return DType::kFloat64;
    case ov::element::Type_t::f32:
      return DType::kFloat32;
    case ov::element::Type_t::f16:
      return DType::kFloat16;
    case ov::element::Type_t::bf16:
      return DType::kBFloat16;
    case ov::element::Type_t::i64:
      return DType::kInt64;
    case ov::element::Type_t::i32:
      return DType::kInt32;
    case ov::element::Type_t::i16:
      return DType::kInt16;
    case ov::element::Type_t::i8:
      return DType::kInt8;
    case ov::element::Type_t::u64:
      return DType::kUInt64;
    case ov::element::Type_t::u32:
      return DType::kUInt32;
    case ov::element::Type_t::u16:
      return DType::kUInt16;
    case ov::element::Type_t::u8:
      return DType::kUInt8;
    case ov::element::Type_t::boolean:
      return DType::kBool;
    default:
      return std::nullopt;  // 4-bit, 8-bit floats, strings and what comes later
  }
}

EngineResult<std::vector<std::string>> port_names(const std::vector<ov::Output<ov::Node>>& ports) {
  std::vector<std::string> names;
  for (const ov::Output<ov::Node>& port : ports) {
    const auto& all = port.get_names();
    if (all.empty())
      return unsupported(fmt::format("port {} of the model has no name", names.size()));
    // OpenVINO calls the result node of output "y" "y/sink_port_0".
    std::string friendly = port.get_node()->get_friendly_name();
    friendly = friendly.substr(0, friendly.find("/sink_port_"));
    names.push_back(all.contains(friendly) ? friendly : port.get_any_name());
  }
  return names;
}

EngineResult<std::vector<EnginePort>> describe_ports(
    const std::vector<ov::Output<const ov::Node>>& ports, const std::vector<std::string>& names) {
  if (ports.size() != names.size()) {
    return engine_fail("internal",
                       fmt::format("{} ports but {} names", ports.size(), names.size()));
  }
  std::vector<EnginePort> described;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::optional<DType> dtype = to_dtype(ports[i].get_element_type());
    if (!dtype) {
      return unsupported(fmt::format("\"{}\" has element type {}, which fiel does not carry",
                                     names[i], ports[i].get_element_type().to_string()));
    }
    EnginePort port{.name = names[i], .dtype = *dtype, .shape = {}};
    const ov::PartialShape shape = ports[i].get_partial_shape();
    if (shape.rank().is_dynamic()) {
      return unsupported(fmt::format(
          "\"{}\" has not even a fixed number of axes; shape=static may help", names[i]));
    }
    for (const ov::Dimension& dimension : shape) {
      port.shape.push_back(dimension.is_static() ? dimension.get_length() : -1);
    }
    described.push_back(std::move(port));
  }
  return described;
}

EngineResult<> apply_shape(ov::Model& model, const std::vector<std::string>& input_names,
                           const BuildRequest& request) {
  std::vector<ModelInput> inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const ov::PartialShape now = model.input(i).get_partial_shape();
    std::optional<Shape> sizes;
    if (now.rank().is_static()) {
      sizes.emplace();
      for (const ov::Dimension& one : now) sizes->push_back(one.is_static() ? one.get_length() : -1);
    }
    inputs.push_back({.name = input_names[i], .shape = std::move(sizes)});
  }
  const auto shapes = FIEL_TRY_ENGINE(wanted_shapes(inputs, request));
  std::map<std::size_t, ov::PartialShape> wanted;
  bool changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    changed = changed || shapes[i] != inputs[i].shape;
    // As it is where nothing is asked: an axis may be dynamic within bounds.
    wanted[i] = shapes[i] == inputs[i].shape
                    ? model.input(i).get_partial_shape()
                    : ov::PartialShape(std::vector<ov::Dimension>(shapes[i]->begin(), shapes[i]->end()));
  }
  if (!changed) return {};
  try {
    model.reshape(wanted);
  } catch (const ov::Exception& error) {
    std::string list;
    for (const auto& [input, partial] : wanted)
      list += fmt::format(" {} {}", input_names[input], partial.to_string());
    return engine_fail(
        "build_error",
        fmt::format("the model does not take these input shapes:{}: {}", list, error.what()));
  }
  return {};
}

}  // namespace fiel
