#include "model/tiny_model.h"

#include "base/files.h"
#include "onnx-ml.pb.h"

namespace fiel {
namespace {

void declare(onnx::ValueInfoProto& port, const char* name, const Shape& shape) {
  port.set_name(name);
  auto& type = *port.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t size : shape) type.mutable_shape()->add_dim()->set_dim_value(size);
}

}  // namespace

Result<> write_tiny_model(const std::filesystem::path& path, const Shape& shape) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("fiel");
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("tiny");
  declare(*graph.add_input(), "x", shape);
  declare(*graph.add_output(), "y", shape);
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Identity");
  node.add_input("x");
  node.add_output("y");
  return write_atomic(path, model.SerializeAsString());
}

}  // namespace fiel
