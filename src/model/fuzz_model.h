// For fuzzing only: parts of small models.
#pragma once

#include <initializer_list>
#include <string>

#include "onnx-ml.pb.h"

namespace fiel {

inline onnx::GraphProto& begin_model(onnx::ModelProto& model, int opset) {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("g");
  return *model.mutable_graph();
}

/// float32; -1: a dynamic axis "N".
inline void add_port(onnx::ValueInfoProto& port, const char* name, std::initializer_list<int> dims) {
  port.set_name(name);
  auto& type = *port.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const int dim : dims) {
    auto& one = *type.mutable_shape()->add_dim();
    if (dim < 0) one.set_dim_param("N");
    else one.set_dim_value(dim);
  }
}

inline void add_node(onnx::GraphProto& graph, const char* op, std::initializer_list<const char*> inputs, const char* output) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(std::string(op) + output);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
}

inline void add_weights(onnx::GraphProto& graph, const char* name, std::initializer_list<int> dims) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  int count = 1;
  for (const int dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int i = 0; i < count; ++i) tensor.add_float_data(0.1f * static_cast<float>(i % 7 - 3));
}

}  // namespace fiel
