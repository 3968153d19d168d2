#include "base/fuzz.h"
#include "model/onnx_model.h"
#include "model/onnx_tensor.h"
#include "onnx-ml.pb.h"

namespace {

void add_port(onnx::ValueInfoProto& port, const char* name) {
  port.set_name(name);
  auto& type = *port.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("N");
  type.mutable_shape()->add_dim()->set_dim_value(4);
}

onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  add_port(*graph.add_input(), "x");
  add_port(*graph.add_output(), "y");
  auto& node = *graph.add_node();
  node.set_op_type("MatMul");
  node.add_input("x");
  node.add_input("w");
  node.add_output("y");
  auto& weights = *graph.add_initializer();
  weights.set_name("w");
  weights.set_data_type(onnx::TensorProto::FLOAT);
  weights.add_dims(4);
  weights.add_dims(4);
  weights.set_raw_data(std::string(64, '\1'));
  return model;
}

void keep_outside(onnx::TensorProto& tensor, const std::string& file) {
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", file}, {"offset", "0"}, {"length", "64"}}) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
}

}  // namespace

std::vector<std::string> fiel::fuzz_seeds() {
  fuzz_file("weights.bin", std::string(64, '\0'));
  onnx::ModelProto outside = small_model(), above = small_model();
  keep_outside(*outside.mutable_graph()->mutable_initializer(0), "weights.bin");
  keep_outside(*above.mutable_graph()->mutable_initializer(0), "../weights.bin");
  return {small_model().graph().initializer(0).SerializeAsString(), small_model().SerializeAsString(), outside.SerializeAsString(),
          above.SerializeAsString()};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fiel::fuzz_file("input.onnx", fiel::fuzz_text(data, size));
  (void)fiel::read_onnx_tensor(file);
  const auto model = fiel::read_onnx_model(file);
  if (!model) return 0;
  for (const auto& outside : model->external_data) {
    // No model makes us read what does not lie beside it.
    if (std::filesystem::canonical(outside).string().rfind(std::filesystem::canonical(fiel::fuzz_folder()).string() + "/", 0) != 0) {
      __builtin_trap();
    }
  }
  return 0;
}
