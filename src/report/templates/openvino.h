// OpenVINO's part of load.cpp: opens the artifact and runs it.
#pragma once

#include <cstring>
#include <fstream>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "sealed.h"

constexpr const char* kEngineName = "OpenVINO";

struct Port {
  std::vector<long> sizes;  // -1: open
  std::size_t element_bytes = 0;
  bool is_float = false;
  std::string type;
};

class Session {
 public:
  static std::string version() {
    const std::string build = ov::get_openvino_version().buildNumber;
    return build.substr(0, build.find('-'));
  }

  explicit Session(const std::string& folder) {
    ov::AnyMap properties;
    for (const sealed::Setting& setting : sealed::kProperties) properties[setting.name] = std::string(setting.value);
    const std::string path = folder + "/artifact/" + sealed::kArtifactFile;
    if (path.ends_with(".xml")) {  // nothing was exported
      model_ = core_.compile_model(path, sealed::kDevice, properties);
    } else {
      std::ifstream blob(path, std::ios::binary);
      model_ = core_.import_model(blob, sealed::kDevice, properties);
    }
    request_ = model_.create_infer_request();
  }

  Port input(std::size_t index) const {
    const auto port = model_.input(index);
    const ov::element::Type type = port.get_element_type();
    Port described{.sizes = {}, .element_bytes = type.size(), .is_float = type.is_real(), .type = type.get_type_name()};
    for (const ov::Dimension& size : port.get_partial_shape()) {
      described.sizes.push_back(size.is_static() ? static_cast<long>(size.get_length()) : -1);
    }
    return described;
  }

  void set_input(std::size_t index, const std::vector<long>& shape, const std::string& bytes) {
    ov::Tensor tensor(model_.input(index).get_element_type(), ov::Shape(shape.begin(), shape.end()));
    std::memcpy(tensor.data(), bytes.data(), tensor.get_byte_size());
    request_.set_input_tensor(index, tensor);
  }

  void run() { request_.infer(); }

  Port output(std::size_t index) const {
    const ov::Tensor tensor = const_cast<ov::InferRequest&>(request_).get_output_tensor(index);
    Port described{.sizes = {}, .element_bytes = 0, .is_float = false, .type = tensor.get_element_type().get_type_name()};
    for (const std::size_t size : tensor.get_shape()) described.sizes.push_back(static_cast<long>(size));
    return described;
  }

 private:
  ov::Core core_;
  ov::CompiledModel model_;
  ov::InferRequest request_;
};
