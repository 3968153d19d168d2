#include "worker/engine_onnxruntime_session.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "worker/guard.h"

namespace fiel {
namespace {

std::unexpected<EngineError> unsupported(std::string message) { return engine_fail("unsupported", std::move(message)); }

constexpr int kMaxRequests = 1024;

EngineResult<int> count_in(const std::string& name, const std::string& value) {
  const auto count = number_from<int>(value);
  if (!count || *count < 0) return unsupported(fmt::format("{}={} is no count", name, value));
  return *count;
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// One core for each thread of the pool; the first core is left to the caller's own thread, which the pool does not pin.
// ONNX Runtime counts processors from 1.
std::string pinned(int threads) {
  const std::vector<int> cores = usable_cores();
  std::string list;
  for (std::size_t i = 1; i < static_cast<std::size_t>(threads) && !cores.empty(); ++i) {
    list += fmt::format("{}{}", i == 1 ? "" : ";", cores[i % cores.size()] + 1);
  }
  return list;
}

template <class Word>
EngineResult<Word> word_in(const std::string& name, const std::string& value,
                           std::initializer_list<std::pair<const char*, Word>> words) {
  for (const auto& [word, meaning] : words) {
    if (value == word) return meaning;
  }
  return unsupported(fmt::format("{}={} is not known", name, value));
}

EngineResult<> apply_one(Ort::SessionOptions& options, const std::string& name, const std::string& value) {
  if (name.find('.') != std::string::npos) {
    options.AddConfigEntry(name.c_str(), value.c_str());
  } else if (name == "graph_optimization_level") {
    options.SetGraphOptimizationLevel(FIEL_TRY_ENGINE(word_in<GraphOptimizationLevel>(
        name, value, {{"none", ORT_DISABLE_ALL}, {"basic", ORT_ENABLE_BASIC}, {"extended", ORT_ENABLE_EXTENDED},
                      {"all", ORT_ENABLE_ALL}})));
  } else if (name == "intra_op_num_threads") {
    options.SetIntraOpNumThreads(FIEL_TRY_ENGINE(count_in(name, value)));
  } else if (name == "inter_op_num_threads") {
    options.SetInterOpNumThreads(FIEL_TRY_ENGINE(count_in(name, value)));
  } else if (name == "execution_mode") {
    options.SetExecutionMode(FIEL_TRY_ENGINE(
        word_in<ExecutionMode>(name, value, {{"sequential", ORT_SEQUENTIAL}, {"parallel", ORT_PARALLEL}})));
  } else if (name == "enable_mem_pattern") {
    FIEL_TRY_ENGINE(word_in<bool>(name, value, {{"0", false}, {"1", true}})) ? options.EnableMemPattern()
                                                                            : options.DisableMemPattern();
  } else if (name == "enable_cpu_mem_arena") {
    FIEL_TRY_ENGINE(word_in<bool>(name, value, {{"0", false}, {"1", true}})) ? options.EnableCpuMemArena()
                                                                            : options.DisableCpuMemArena();
  } else {
    return unsupported(fmt::format("{}: no such session option", name));
  }
  return {};
}

}  // namespace

EngineResult<SessionPlan> plan_session(const Settings& settings, const std::vector<CatalogueKnob>& catalogue) {
  SessionPlan plan;
  for (const auto& [name, value] : settings) {
    const CatalogueKnob* entry = find_knob(catalogue, name);
    if (entry == nullptr) return unsupported(fmt::format("{}: no such knob", name));
    if (entry->knob.kind != KnobKind::kProperty || value == entry->unset) continue;
    if (entry->knob.values.size() > 1 && entry->readback == "graph" &&
        std::ranges::find(entry->knob.values, value) == entry->knob.values.end()) {
      return unsupported(fmt::format("{}={} is not known", name, value));
    }
    (entry->readback == "graph" ? plan.graph : plan.run)[name] = value;
  }
  // Words of ours for what ONNX Runtime wants as a list of cores.
  if (const auto wish = plan.run.find("intra_op_thread_affinities"); wish != plan.run.end()) {
    const auto threads = plan.run.find("intra_op_num_threads");
    const int count = threads == plan.run.end() ? 0 : FIEL_TRY_ENGINE(count_in(threads->first, threads->second));
    if (wish->second != "pinned") return unsupported(fmt::format("intra_op_thread_affinities={} is not known", wish->second));
    plan.run.erase(wish);
    if (count > 1) plan.run["session.intra_op_thread_affinities"] = pinned(count);
  }
  return plan;
}

namespace {

struct CStrings {
  explicit CStrings(const ProviderOptions& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys, values;
};

// Three providers have options of a type of their own, which is made, filled in by names, appended and freed.
template <class Options, class Create, class Update, class Release>
auto made_options(const ProviderOptions& wanted, Create create, Update update, Release release) {
  Options* made = nullptr;
  Ort::ThrowOnError(create(&made));
  std::unique_ptr<Options, Release> owner(made, release);
  const CStrings strings(wanted);
  Ort::ThrowOnError(update(made, strings.keys.data(), strings.values.data(), strings.keys.size()));
  return owner;
}

void append_provider(Ort::SessionOptions& options, const std::string& provider, const ProviderOptions& wanted) {
  const OrtApi& api = Ort::GetApi();
  if (provider == "DNNL") {
    options.AppendExecutionProvider_Dnnl(*made_options<OrtDnnlProviderOptions>(
        wanted, api.CreateDnnlProviderOptions, api.UpdateDnnlProviderOptions, api.ReleaseDnnlProviderOptions));
  } else if (provider == "CUDA") {
    options.AppendExecutionProvider_CUDA_V2(*made_options<OrtCUDAProviderOptionsV2>(
        wanted, api.CreateCUDAProviderOptions, api.UpdateCUDAProviderOptions, api.ReleaseCUDAProviderOptions));
  } else if (provider == "TensorRT") {
    options.AppendExecutionProvider_TensorRT_V2(*made_options<OrtTensorRTProviderOptionsV2>(
        wanted, api.CreateTensorRTProviderOptions, api.UpdateTensorRTProviderOptions, api.ReleaseTensorRTProviderOptions));
  } else {
    options.AppendExecutionProvider(provider, {wanted.begin(), wanted.end()});
  }
}

}  // namespace

EngineResult<> apply(Ort::SessionOptions& options, const Settings& settings) {
  for (const auto& [name, value] : settings) {
    if (name != "provider" && !name.starts_with(kProviderOption)) FIEL_TRY_ENGINE(apply_one(options, name, value));
  }
  if (const std::string provider = provider_of(settings); provider != "CPU") {
    append_provider(options, provider, provider_options(settings));
  }
  return {};
}

EngineResult<int> requests_of(const Settings& settings) {
  const auto found = settings.find("parallel_requests");
  if (found == settings.end()) return 1;
  const int count = FIEL_TRY_ENGINE(count_in(found->first, found->second));
  if (count < 1 || count > kMaxRequests) return unsupported(fmt::format("parallel_requests={} is not in 1 to {}", count, kMaxRequests));
  return count;
}

namespace {

constexpr std::array<std::pair<DType, ONNXTensorElementDataType>, 13> kTypes = {{
    {DType::kFloat64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DType::kFloat32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DType::kFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DType::kBFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DType::kUInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {DType::kUInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DType::kUInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DType::kUInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
}};

EngineResult<EnginePort> port_of(std::string name, const Ort::TypeInfo& info) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) {
    return unsupported(fmt::format("\"{}\" is no tensor, and fiel carries nothing else", name));
  }
  const auto tensor = info.GetTensorTypeAndShapeInfo();
  const auto found = std::ranges::find(kTypes, tensor.GetElementType(), &std::pair<DType, ONNXTensorElementDataType>::second);
  if (found == kTypes.end()) {
    return unsupported(fmt::format("\"{}\" has ONNX Runtime's element type {}, which fiel does not carry", name,
                                   static_cast<int>(tensor.GetElementType())));
  }
  return EnginePort{.name = std::move(name), .dtype = found->first, .shape = tensor.GetShape()};
}

}  // namespace

EngineResult<std::vector<EnginePort>> input_ports(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<EnginePort> ports;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    ports.push_back(
        FIEL_TRY_ENGINE(port_of(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i))));
  }
  return ports;
}

EngineResult<std::vector<EnginePort>> output_ports(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<EnginePort> ports;
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    ports.push_back(
        FIEL_TRY_ENGINE(port_of(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i))));
  }
  return ports;
}

ONNXTensorElementDataType to_onnx(DType dtype) {
  return std::ranges::find(kTypes, dtype, &std::pair<DType, ONNXTensorElementDataType>::first)->second;
}

void ORT_API_CALL take_log(void* log, OrtLoggingLevel severity, const char*, const char*, const char*, const char* message) {
  if (severity >= ORT_LOGGING_LEVEL_WARNING) std::fprintf(stderr, "onnxruntime: %s\n", message);
  static_cast<SessionLog*>(log)->take(message);
}

EngineError error_of(const Ort::Exception& error) {
  const std::string_view words = error.what();
  const auto says = [&](std::string_view sign) { return words.find(sign) != std::string_view::npos; };
  std::string reason = "build_error";
  if (says("bad_alloc") || says("Failed to allocate memory")) {
    reason = "out_of_memory";
  } else if (error.GetOrtErrorCode() == ORT_NO_SUCHFILE) {
    reason = "bad_request";
  } else if (error.GetOrtErrorCode() == ORT_INVALID_PROTOBUF || error.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED ||
             says("not a registered function/op") || says("Unsupported model IR version") || says("is under development")) {
    reason = "unsupported";
  }
  return {.reason = std::move(reason), .message = std::string(words)};
}

std::set<std::string> own_threads() {
  std::error_code code;
  std::set<std::string> ids;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/task", code); entry != end(entry); entry.increment(code)) {
    ids.insert(entry->path().filename().string());
  }
  return ids;
}

}  // namespace fiel
