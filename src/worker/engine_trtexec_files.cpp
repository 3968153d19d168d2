#include "worker/engine_trtexec_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "worker/engine_trtexec_words.h"
#include "worker/guard.h"

namespace fiel::trtexec {
namespace {

constexpr double kMillisecond = 1e-3;

std::unexpected<EngineError> odd(std::string message) { return engine_fail("internal", "trtexec: " + std::move(message)); }

}  // namespace

EngineResult<std::vector<Query>> read_times(const std::filesystem::path& path) {
  const std::string text = FIEL_TRY_REQUEST(read_text(path));
  const Json trace = FIEL_TRY_REQUEST(parse_json(text));
  if (!trace.is_array() || trace.empty()) return odd("its trace of times is no list, or an empty one");
  std::vector<Query> queries;
  queries.reserve(trace.size());
  for (const Json& item : trace) {
    Query query{.start_seconds = FIEL_TRY_REQUEST(get_number(item, "startH2dMs")) * kMillisecond,
                .end_seconds = FIEL_TRY_REQUEST(get_number(item, "endD2hMs")) * kMillisecond,
                .latency_seconds = FIEL_TRY_REQUEST(get_number(item, "latencyMs")) * kMillisecond,
                .compute_seconds = FIEL_TRY_REQUEST(get_number(item, "computeMs")) * kMillisecond};
    if (!(query.latency_seconds > 0) || !(query.compute_seconds >= 0)) {
      return odd(fmt::format("its trace has a latency of {} s and a compute time of {} s", query.latency_seconds,
                             query.compute_seconds));
    }
    queries.push_back(query);
  }
  return queries;
}

EngineResult<std::vector<Tensor>> read_outputs(const std::string& text, const std::filesystem::path& folder,
                                               const std::vector<EnginePort>& ports) {
  const std::vector<Dumped> dumped = outputs_dumped_in(text);
  std::set<std::string> files;
  for (const Dumped& one : dumped) {
    if (!files.insert(one.file).second) {
      return engine_fail("unsupported", fmt::format("trtexec writes two outputs into one file, {}: their names are too alike", one.file));
    }
  }
  std::vector<Tensor> tensors;
  for (const EnginePort& port : ports) {
    const auto found = std::ranges::find(dumped, port.name, &Dumped::name);
    if (found == dumped.end()) return odd(fmt::format("it wrote no file for the output \"{}\"", port.name));
    const auto dtype = dtype_of(found->type);
    if (dtype != port.dtype) {
      return engine_fail("unsupported", fmt::format("output \"{}\" is {} in the model, and TensorRT gives {}", port.name,
                                                    to_string(port.dtype), found->type));
    }
    const auto count = element_count(found->shape);
    const std::filesystem::path file = folder / std::filesystem::path(found->file).filename();
    const std::string bytes = FIEL_TRY_REQUEST(read_text(file, std::int64_t{4} << 30));
    if (!count || bytes.size() != static_cast<std::size_t>(*count) * element_size(port.dtype)) {
      return odd(fmt::format("output \"{}\" of shape {} has {} bytes", port.name, to_string(found->shape), bytes.size()));
    }
    Tensor tensor{.dtype = port.dtype, .shape = found->shape, .bytes = {}};
    tensor.bytes.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// "Half", "Float", or with a context "Row major linear FP16 format"; newer ones have the type under a key of its own.
std::map<std::string, int> precisions_in(const Json& layers) {
  constexpr std::array<std::pair<std::string_view, const char*>, 12> kWords = {{{"BFloat16", "bf16"},
                                                                                {"BF16", "bf16"},
                                                                                {"FP16", "f16"},
                                                                                {"Half", "f16"},
                                                                                {"FP8", "f8"},
                                                                                {"FP4", "f4"},
                                                                                {"FP32", "f32"},
                                                                                {"Float", "f32"},
                                                                                {"Int8", "i8"},
                                                                                {"INT8", "i8"},
                                                                                {"Int", "int"},
                                                                                {"Bool", "bool"}}};
  std::map<std::string, int> precisions;
  const auto list = layers.find("Layers");
  if (list == layers.end() || !list->is_array()) return precisions;
  for (const Json& layer : *list) {
    const auto outputs = layer.is_object() ? layer.find("Outputs") : layer.end();
    if (outputs == layer.end() || !outputs->is_array() || outputs->empty() || !outputs->front().is_object()) continue;
    for (const char* key : {"Datatype", "Format/Datatype"}) {
      const auto type = outputs->front().find(key);
      if (type == outputs->front().end() || !type->is_string()) continue;
      const auto& text = type->get_ref<const std::string&>();
      const auto* const word = std::ranges::find_if(
          kWords, [&](const auto& pair) { return text.find(pair.first) != std::string::npos; });
      ++precisions[word == kWords.end() ? "other" : word->second];
      break;
    }
  }
  return precisions;
}

}  // namespace fiel::trtexec
