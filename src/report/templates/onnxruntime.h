// ONNX Runtime's part of load.cpp: opens the artifact and runs it. Its library is loaded when the program starts, from
// ONNXRUNTIME_LIBRARY (CMakeLists.txt), since its version must be the one that was measured, whatever the headers are of.
#pragma once

#define ORT_API_MANUAL_INIT
#include <dlfcn.h>
#include <onnxruntime_cxx_api.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "sealed.h"

constexpr const char* kEngineName = "ONNX Runtime";

struct Port {
  std::vector<long> sizes;  // -1: open
  std::size_t element_bytes = 0;
  bool is_float = false;
  std::string type;
};

struct ElementType {
  ONNXTensorElementDataType number;
  std::size_t bytes;
  bool is_float;
  const char* name;
};
constexpr ElementType kTypes[] = {{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 4, true, "f32"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, 8, true, "f64"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 2, true, "f16"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, 2, true, "bf16"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 8, false, "i64"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 4, false, "i32"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, 2, false, "i16"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, 1, false, "i8"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, 8, false, "u64"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, 4, false, "u32"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, 2, false, "u16"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 1, false, "u8"},
                                  {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 1, false, "boolean"}};

inline const OrtApiBase& onnxruntime() {
  static const OrtApiBase* const base = [] {
    void* library = dlopen(ONNXRUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, "OrtGetApiBase");
    if (symbol == nullptr) throw std::runtime_error(std::string("cannot load ONNX Runtime: ") + dlerror());
    const OrtApiBase* found = reinterpret_cast<const OrtApiBase* (*)()>(symbol)();
    Ort::InitApi(found->GetApi(ORT_API_VERSION));
    return found;
  }();
  return *base;
}

class Session {
 public:
  static std::string version() { return onnxruntime().GetVersionString(); }

  explicit Session(const std::string& folder)
      : env_((onnxruntime(), ORT_LOGGING_LEVEL_WARNING), "load"),
        session_(env_, (folder + "/artifact/" + sealed::kArtifactFile).c_str(), options()) {
    for (const sealed::Input& input : sealed::kInputs) input_names_.push_back(input.name.c_str());
    for (const std::string& name : sealed::kOutputs) output_names_.push_back(name.c_str());
    for (std::size_t i = 0; i < input_names_.size(); ++i) inputs_.emplace_back(nullptr);
    for (std::size_t i = 0; i < output_names_.size(); ++i) outputs_.emplace_back(nullptr);
    bytes_.resize(input_names_.size());
  }

  Port input(std::size_t index) const { return port(session_.GetInputTypeInfo(index).GetTensorTypeAndShapeInfo()); }

  void set_input(std::size_t index, const std::vector<long>& shape, const std::string& bytes) {
    bytes_[index] = bytes + '\0';  // an address also where there is no element
    const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
    const auto type = session_.GetInputTypeInfo(index).GetTensorTypeAndShapeInfo().GetElementType();
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
    inputs_[index] = Ort::Value::CreateTensor(memory, bytes_[index].data(), bytes.size(), sizes.data(), sizes.size(), type);
  }

  void run() {
    session_.Run(Ort::RunOptions(), input_names_.data(), inputs_.data(), inputs_.size(), output_names_.data(),
                 outputs_.data(), outputs_.size());
  }

  Port output(std::size_t index) const { return port(outputs_[index].GetTensorTypeAndShapeInfo()); }

 private:
  static Ort::SessionOptions options() {
    Ort::SessionOptions options;
    std::string provider;
    std::unordered_map<std::string, std::string> provider_options;
    for (const sealed::Setting& setting : sealed::kProperties) {
      const std::string name = setting.name, value = setting.value;
      const bool on = value != "0";
      if (name == "provider") provider = value;
      if (name.rfind("provider.", 0) == 0) {
        const std::size_t dot = name.find('.', 9);
        if (name.substr(9, dot - 9) == provider) provider_options[name.substr(dot + 1)] = value;
      } else if (name.find('.') != std::string::npos) {
        options.AddConfigEntry(setting.name, setting.value);
      }
      if (name == "graph_optimization_level") options.SetGraphOptimizationLevel(level(value));
      if (name == "intra_op_num_threads") options.SetIntraOpNumThreads(std::stoi(value));
      if (name == "inter_op_num_threads") options.SetInterOpNumThreads(std::stoi(value));
      if (name == "execution_mode") options.SetExecutionMode(value == "parallel" ? ORT_PARALLEL : ORT_SEQUENTIAL);
      if (name == "enable_mem_pattern") on ? options.EnableMemPattern() : options.DisableMemPattern();
      if (name == "enable_cpu_mem_arena") on ? options.EnableCpuMemArena() : options.DisableCpuMemArena();
    }
    if (!provider.empty()) options.AppendExecutionProvider(provider, provider_options);
    return options;
  }
  static GraphOptimizationLevel level(const std::string& word) {
    return word == "none" ? ORT_DISABLE_ALL : word == "basic" ? ORT_ENABLE_BASIC
                                          : word == "extended" ? ORT_ENABLE_EXTENDED : ORT_ENABLE_ALL;
  }
  template <class Info>
  static Port port(const Info& info) {
    Port described;
    for (const std::int64_t size : info.GetShape()) described.sizes.push_back(static_cast<long>(size));
    for (const ElementType& type : kTypes) {
      if (type.number != info.GetElementType()) continue;
      described.element_bytes = type.bytes;
      described.is_float = type.is_float;
      described.type = type.name;
    }
    return described;
  }

  Ort::Env env_;
  Ort::Session session_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<std::string> bytes_;
  std::vector<Ort::Value> inputs_, outputs_;
};
