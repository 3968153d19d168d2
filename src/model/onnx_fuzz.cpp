#include "base/fuzz.h"
#include "model/fuzz_model.h"
#include "model/onnx_model.h"
#include "model/onnx_tensor.h"

namespace {

onnx::ModelProto small_model() {
  using namespace fiel;
  onnx::ModelProto model;
  auto& graph = begin_model(model, 17);
  add_port(*graph.add_input(), "x", {-1, 4});
  add_port(*graph.add_output(), "y", {-1, 4});
  add_node(graph, "MatMul", {"x", "w"}, "y");
  add_weights(graph, "w", {4, 4});
  return model;
}

void keep_outside(onnx::TensorProto& tensor, const std::string& file) {
  tensor.clear_float_data();
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
