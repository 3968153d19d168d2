#include "protocol/message.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

constexpr std::size_t kMaxRank = 64;  // far above any engine's

Result<TensorFile> parse_tensor_file(const Json& json) {
  TensorFile tensor;
  tensor.file = FIEL_TRY(get_string(json, "file"));
  if (!tensor.file.is_absolute()) {
    return fail(ErrorKind::kProtocol, "\"file\" is not an absolute path");
  }
  tensor.offset = FIEL_TRY(get_int(json, "offset"));
  if (tensor.offset < 0 || tensor.offset % kTensorAlignment != 0) {
    return fail(ErrorKind::kProtocol, fmt::format("\"offset\" is {}, not a multiple of {}",
                                                  tensor.offset, kTensorAlignment));
  }
  const std::string dtype = FIEL_TRY(get_string(json, "dtype"));
  const std::optional<DType> parsed = parse_dtype(dtype);
  if (!parsed)
    return fail(ErrorKind::kProtocol, fmt::format("\"dtype\" is \"{}\", no dtype", dtype));
  tensor.dtype = *parsed;
  if (!json.contains("shape")) return fail(ErrorKind::kProtocol, "\"shape\" is missing");
  tensor.shape = FIEL_TRY(parse_shape(json.at("shape"), 0));
  return tensor;
}

Result<SampleFiles> parse_sample(const Json& json) {
  SampleFiles sample;
  sample.index = FIEL_TRY(get_int(json, "index"));
  if (sample.index < 0) return fail(ErrorKind::kProtocol, "\"index\" is negative");
  if (!json.contains("inputs") || !json.at("inputs").is_object()) {
    return fail(ErrorKind::kProtocol, "\"inputs\" is missing or no object");
  }
  for (const auto& [name, value] : json.at("inputs").items()) {
    Result<TensorFile> tensor = parse_tensor_file(value);
    if (!tensor) return std::unexpected(std::move(tensor).error().with_context("inputs." + name));
    sample.inputs.emplace(name, *std::move(tensor));
  }
  return sample;
}

}  // namespace

Result<Shape> parse_shape(const Json& json, std::int64_t lowest) {
  if (!json.is_array() || json.size() > kMaxRank) {
    return fail(ErrorKind::kProtocol,
                fmt::format("\"shape\" is no list of at most {} integers", kMaxRank));
  }
  Shape shape;
  for (const Json& dimension : json) {
    if (!dimension.is_number_integer() ||
        (dimension.is_number_unsigned() && dimension.get<std::uint64_t>() > INT64_MAX) ||
        dimension.get<std::int64_t>() < lowest) {
      return fail(ErrorKind::kProtocol,
                  fmt::format("\"shape\" has {}, not an integer of at least {}",
                              dump_json(dimension), lowest));
    }
    shape.push_back(dimension.get<std::int64_t>());
  }
  if (lowest >= 0 && !element_count(shape)) {
    return fail(ErrorKind::kProtocol, fmt::format("\"shape\" {} is too large", to_string(shape)));
  }
  return shape;
}

Result<std::vector<SampleFiles>> parse_samples(const Json& json) {
  if (!json.is_array() || json.empty()) {
    return fail(ErrorKind::kProtocol, "\"samples\" is no list of at least one sample");
  }
  std::vector<SampleFiles> samples;
  for (std::size_t i = 0; i < json.size(); ++i) {
    Result<SampleFiles> sample = parse_sample(json[i]);
    if (!sample) {
      return std::unexpected(std::move(sample).error().with_context(fmt::format("samples[{}]", i)));
    }
    samples.push_back(*std::move(sample));
  }
  return samples;
}

Json to_json(const std::vector<SampleFiles>& samples) {
  Json list = Json::array();
  for (const SampleFiles& sample : samples) {
    Json inputs = Json::object();
    for (const auto& [name, tensor] : sample.inputs) {
      inputs[name] = {{"file", tensor.file.string()},
                      {"offset", tensor.offset},
                      {"dtype", to_string(tensor.dtype)},
                      {"shape", tensor.shape}};
    }
    list.push_back({{"index", sample.index}, {"inputs", std::move(inputs)}});
  }
  return list;
}

Result<std::vector<StateLink>> parse_state(const Json& json) {
  if (!json.is_array()) return fail(ErrorKind::kProtocol, "\"state\" is no list");
  std::vector<StateLink> links;
  for (const Json& item : json) {
    StateLink link;
    link.output = FIEL_TRY(get_string(item, "output"));
    link.input = FIEL_TRY(get_string(item, "input"));
    links.push_back(std::move(link));
  }
  return links;
}

Json to_json(const std::vector<StateLink>& links) {
  Json list = Json::array();
  for (const StateLink& link : links)
    list.push_back({{"output", link.output}, {"input", link.input}});
  return list;
}

}  // namespace fiel
