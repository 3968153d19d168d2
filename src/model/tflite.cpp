#include "model/tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fiel {
namespace {

// Of TFLite's schema, version 3: places of the fields in their tables.
constexpr int kModelSubgraphs = 2;
constexpr int kSubgraphTensors = 0, kSubgraphInputs = 1, kSubgraphOutputs = 2;
constexpr int kTensorShape = 0, kTensorType = 1, kTensorName = 3, kTensorSignature = 7;

constexpr std::array<std::optional<DType>, 19> kTypes = {
    DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64, std::nullopt /* string */, DType::kBool,
    DType::kInt16, std::nullopt /* complex64 */, DType::kInt8, DType::kFloat64, std::nullopt /* complex128 */, DType::kUInt64,
    std::nullopt /* resource */, std::nullopt /* variant */, DType::kUInt32, DType::kUInt16, std::nullopt /* int4 */, DType::kBFloat16};

// A flatbuffer. Places count from its beginning; 0 is nowhere. What lies outside is nothing, and is remembered.
class Flat {
 public:
  explicit Flat(std::string_view bytes) : bytes_(bytes) {}

  bool broken() const { return broken_; }

  template <class T>
  T at(std::size_t place) {
    T value{};
    if (place > bytes_.size() || bytes_.size() - place < sizeof value) {
      broken_ = true;
    } else {
      std::memcpy(&value, bytes_.data() + place, sizeof value);
    }
    return value;
  }

  /// Where the reference at `place` leads to.
  std::size_t follow(std::size_t place) { return place + at<std::uint32_t>(place); }

  /// Where a table has this field; 0 where it has none.
  std::size_t field(std::size_t table, int number) {
    const auto back = static_cast<std::int64_t>(table) - at<std::int32_t>(table);
    if (back < 0) broken_ = true;
    if (broken_) return 0;
    const auto list = static_cast<std::size_t>(back), slot = 4 + 2 * static_cast<std::size_t>(number);
    if (slot + 2 > at<std::uint16_t>(list)) return 0;
    const auto offset = at<std::uint16_t>(list + slot);
    return offset == 0 ? 0 : table + offset;
  }

  /// The vector in this field and how many elements of `size` it has; nothing where it is not there.
  struct Vector {
    std::size_t first = 0, count = 0;
  };
  Vector vector(std::size_t table, int number, std::size_t size) {
    const std::size_t place = field(table, number);
    if (place == 0) return {};
    const std::size_t list = follow(place);
    const std::size_t count = at<std::uint32_t>(list);
    if (broken_ || count > (bytes_.size() - list - 4) / size) {
      broken_ = true;
      return {};
    }
    return {.first = list + 4, .count = count};
  }

  std::string text(std::size_t table, int number) {
    const Vector letters = vector(table, number, 1);
    return std::string(bytes_.substr(letters.first, letters.count));
  }

 private:
  std::string_view bytes_;
  bool broken_ = false;
};

std::unexpected<Error> no_tflite(std::string message) {
  return fail(ErrorKind::kContract, "no TFLite model: " + std::move(message), "convert or download it again");
}

ModelPort port_of(Flat& flat, std::size_t tensor) {
  const std::size_t type_place = flat.field(tensor, kTensorType);
  const std::size_t type = type_place == 0 ? 0 : flat.at<std::uint8_t>(type_place);
  ModelPort port{.name = flat.text(tensor, kTensorName), .dtype = {}, .type_name = fmt::format("TFLite's type {}", type), .dims = {}};
  if (type < kTypes.size()) port.dtype = kTypes[type];
  // The signature has -1 where an axis is dynamic; the shape has 1 there.
  Flat::Vector dims = flat.vector(tensor, kTensorSignature, 4);
  if (dims.count == 0) dims = flat.vector(tensor, kTensorShape, 4);
  port.dims.emplace();
  for (std::size_t i = 0; i < dims.count; ++i) {
    port.dims->push_back({.size = std::max(flat.at<std::int32_t>(dims.first + 4 * i), -1), .name = {}});
  }
  return port;
}

Result<std::vector<ModelPort>> ports_of(Flat& flat, std::size_t graph, int field) {
  const Flat::Vector tensors = flat.vector(graph, kSubgraphTensors, 4), list = flat.vector(graph, field, 4);
  std::vector<ModelPort> ports;
  for (std::size_t i = 0; i < list.count && !flat.broken(); ++i) {
    const auto index = flat.at<std::int32_t>(list.first + 4 * i);
    if (index < 0 || static_cast<std::size_t>(index) >= tensors.count) return no_tflite("a port is no tensor");
    ports.push_back(port_of(flat, flat.follow(tensors.first + 4 * static_cast<std::size_t>(index))));
    if (ports.back().name.empty()) return no_tflite("a port has no name");
  }
  if (flat.broken()) return no_tflite("it is cut off");
  return ports;
}

}  // namespace

Result<ModelPorts> read_tflite(std::string_view bytes) {
  if (bytes.substr(0, 8).size() < 8 || bytes.substr(4, 4) != "TFL3") return no_tflite("it does not begin as one");
  Flat flat(bytes);
  const Flat::Vector graphs = flat.vector(flat.follow(0), kModelSubgraphs, 4);
  if (flat.broken() || graphs.count == 0) return no_tflite("it has no graph");
  const std::size_t graph = flat.follow(graphs.first);
  ModelPorts ports;
  ports.inputs = FIEL_TRY(ports_of(flat, graph, kSubgraphInputs));
  ports.outputs = FIEL_TRY(ports_of(flat, graph, kSubgraphOutputs));
  if (ports.outputs.empty()) return no_tflite("it has no output");
  return ports;
}

}  // namespace fiel
