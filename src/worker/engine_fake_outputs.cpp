#include "worker/engine_fake_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/rng.h"

namespace fiel::fake {
namespace {

std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return hash;
}

template <class T>
void put(Tensor& tensor, std::int64_t index, T value) {
  std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(index) * sizeof value, &value,
              sizeof value);
}

// Round to nearest even, as hardware does; above 65519.99 it is infinity.
std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7e00;
  const double size = std::fabs(value);
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  const int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  // A subnormal has exponent field 0; a normal one's leading bit moves the field up by one.
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + steps));
}

std::uint16_t to_bfloat16(double value) {
  const auto narrow = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  if (std::isnan(narrow)) return 0x7fc0;
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <class T>
void put_integer(Tensor& tensor, std::int64_t index, double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  const double rounded = std::nearbyint(value);
  T integer = 0;  // also for NaN
  if (rounded >= high) {
    integer = std::numeric_limits<T>::max();
  } else if (rounded >= low) {
    integer = static_cast<T>(rounded);
  }
  put(tensor, index, integer);
}

void set_element(Tensor& tensor, std::int64_t index, double value) {
  switch (tensor.dtype) {
    case DType::kFloat64:
      return put(tensor, index, value);
    case DType::kFloat32:
      return put(tensor, index, static_cast<float>(value));
    case DType::kFloat16:
      return put(tensor, index, to_half(value));
    case DType::kBFloat16:
      return put(tensor, index, to_bfloat16(value));
    case DType::kInt64:
      return put_integer<std::int64_t>(tensor, index, value);
    case DType::kInt32:
      return put_integer<std::int32_t>(tensor, index, value);
    case DType::kInt16:
      return put_integer<std::int16_t>(tensor, index, value);
    case DType::kInt8:
      return put_integer<std::int8_t>(tensor, index, value);
    case DType::kUInt64:
      return put_integer<std::uint64_t>(tensor, index, value);
    case DType::kUInt32:
      return put_integer<std::uint32_t>(tensor, index, value);
    case DType::kUInt16:
      return put_integer<std::uint16_t>(tensor, index, value);
    case DType::kUInt8:
      return put_integer<std::uint8_t>(tensor, index, value);
    case DType::kBool:
      return put(tensor, index, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
  }
}

Tensor make_tensor(DType dtype, Shape shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = {}};
  const auto count = static_cast<std::size_t>(element_count(tensor.shape).value_or(0));
  tensor.bytes.resize(count * element_size(dtype));
  return tensor;
}

std::int64_t count_of(const Tensor& tensor) { return element_count(tensor.shape).value_or(0); }

// Dynamic axes of an output are those of the first input.
Shape resolve(const Shape& shape, const Shape& input) {
  Shape result = shape;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] < 0) result[i] = i < input.size() ? input[i] : 1;
  }
  return result;
}

// One row of logits for each index in front of the last axis: noise in [0, 1), and the row's class
// above it. With classes from the input, row r takes the element r / rows of the way through it, so
// that one row takes the first.
Tensor class_logits(const Output& output, const Tensor& input, std::uint64_t hash) {
  Tensor logits = make_tensor(output.port.dtype, resolve(output.port.shape, input.shape));
  const std::int64_t classes = logits.shape.back();
  const std::int64_t rows = classes > 0 ? count_of(logits) / classes : 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    Rng rng(sub_seed(hash, fmt::format("{}/{}", output.port.name, row)));
    std::int64_t chosen = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(classes)));
    if (output.class_source == ClassSource::kInput && count_of(input) > 0) {
      const double label = std::floor(element(input.view(), row * count_of(input) / rows));
      if (std::isfinite(label))
        chosen =
            static_cast<std::int64_t>(std::fmod(std::fabs(label), static_cast<double>(classes)));
    }
    for (std::int64_t k = 0; k < classes; ++k) {
      set_element(logits, row * classes + k, rng.uniform01() + (k == chosen ? output.margin : 0));
    }
  }
  return logits;
}

Tensor scaled(const Output& output, const Tensor& input) {
  Tensor result = make_tensor(output.port.dtype, input.shape);
  for (std::int64_t i = 0; i < count_of(result); ++i)
    set_element(result, i, output.factor * element(input.view(), i));
  return result;
}

// Rolls every row's values by one along the last axis: another class wins, nothing else changes.
void flip_classes(Tensor& tensor) {
  if (tensor.shape.empty() || tensor.shape.back() < 2 || count_of(tensor) == 0) return;
  const std::size_t row =
      static_cast<std::size_t>(tensor.shape.back()) * element_size(tensor.dtype);
  for (std::size_t start = 0; start < tensor.bytes.size(); start += row) {
    const auto begin = tensor.bytes.begin() + static_cast<std::ptrdiff_t>(start);
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(row - element_size(tensor.dtype)),
                begin + static_cast<std::ptrdiff_t>(row));
  }
}

double non_finite_value(const Json& parameters) {
  const std::string value = parameters.value("value", "nan");
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

void spoil_values(const Fault& fault, const Json& parameters, Rng& rng, Tensor& tensor) {
  const std::int64_t count = count_of(tensor);
  if (fault.action == "noise") {
    const double sd = parameters.value("sd", 0.1);
    for (std::int64_t i = 0; i < count; ++i)
      set_element(tensor, i, element(tensor.view(), i) + sd * rng.normal());
  } else if (fault.action == "flip") {
    flip_classes(tensor);
  } else if (fault.action == "zeros") {
    std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
  } else if (fault.action == "round") {
    const bool half = parameters.value("to", "bfloat16") == "float16";
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = element(tensor.view(), i);
      set_element(tensor, i,
                  half ? half_to_double(to_half(value)) : bfloat16_to_double(to_bfloat16(value)));
    }
  } else if (fault.action == "non_finite" && count > 0) {
    const double value = non_finite_value(parameters);
    if (parameters.value("elements", "one") == "one") {
      set_element(tensor, static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count))),
                  value);
    } else {
      for (std::int64_t i = 0; i < count; ++i) set_element(tensor, i, value);
    }
  } else if (fault.action == "dtype") {
    Tensor other = make_tensor(
        parse_dtype(parameters.value("dtype", "float64")).value_or(DType::kFloat64), tensor.shape);
    for (std::int64_t i = 0; i < count; ++i) set_element(other, i, element(tensor.view(), i));
    tensor = std::move(other);
  } else if (fault.action == "shape") {
    const Shape shape = parameters.value("shape", Shape{});
    if (shape.empty()) {
      tensor.shape.insert(tensor.shape.begin(), 1);  // the same elements under one more axis
    } else {
      Tensor other = make_tensor(tensor.dtype, shape);
      const std::size_t shared = std::min(other.bytes.size(), tensor.bytes.size());
      std::copy_n(tensor.bytes.begin(), shared, other.bytes.begin());
      tensor = std::move(other);
    }
  }
}

}  // namespace

std::uint64_t hash_inputs(const Tensors& inputs) {
  std::uint64_t hash = fnv1a({});
  for (const auto& [name, tensor] : inputs) {
    hash = fnv1a(std::as_bytes(std::span(name)), hash);
    hash = fnv1a(tensor.bytes, hash);
  }
  return hash;
}

Result<Tensors> compute_outputs(const Script& script, const Tensors& inputs) {
  for (const Port& port : script.inputs) {
    const auto found = inputs.find(port.name);
    if (found == inputs.end())
      return fail(ErrorKind::kProtocol, "input " + port.name + " is missing");
    if (found->second.dtype != port.dtype)
      return fail(ErrorKind::kProtocol, "input " + port.name + " has another dtype");
  }
  const Tensor& first = inputs.at(script.inputs.front().name);
  const std::uint64_t hash = hash_inputs(inputs);
  Tensors outputs;
  for (const Output& output : script.outputs) {
    outputs[output.port.name] = output.rule == OutputRule::kClass
                                    ? class_logits(output, first, hash)
                                    : scaled(output, first);
  }
  return outputs;
}

void spoil_outputs(const Fault& fault, std::uint64_t input_hash, Tensors& outputs) {
  if (outputs.empty()) return;
  const Json parameters = parse_json(fault.parameters).value_or(Json::object());
  Rng rng(sub_seed(fault.seed, fmt::format("sample/{}", input_hash)));
  if (!(rng.uniform01() < parameters.value("share", 1.0))) return;
  const std::string named = parameters.value("output", "");
  if (fault.action == "drop_output") {
    outputs.erase(named.empty() ? outputs.begin()->first : named);
  } else if (fault.action == "extra_output") {
    outputs[named.empty() ? "extra" : named] = outputs.begin()->second;
  } else if (fault.action == "swap") {
    if (outputs.size() > 1)
      std::swap(outputs.begin()->second.bytes, std::next(outputs.begin())->second.bytes);
  } else {
    for (auto& [name, tensor] : outputs) {
      if (named.empty() || named == name) spoil_values(fault, parameters, rng, tensor);
    }
  }
}

}  // namespace fiel::fake
