// Any model is refused with a word, or what we write of it is a model that we can read.
#include <fmt/format.h>

#include <algorithm>

#include "base/fuzz.h"
#include "model/fuzz_model.h"
#include "model/onnx_model.h"
#include "variant/rewriter.h"

namespace {

std::string small_model(int opset) {
  using namespace fiel;
  onnx::ModelProto model;
  auto& graph = begin_model(model, opset);
  add_port(*graph.add_input(), "x", {1, 1, 4, 4});
  add_port(*graph.add_output(), "y", {1, 2});
  add_weights(graph, "k", {2, 1, 3, 3});
  add_weights(graph, "w", {2, 2});
  add_weights(graph, "b", {2});
  add_node(graph, "Conv", {"x", "k"}, "c");
  add_node(graph, "Relu", {"c"}, "r");
  add_node(graph, "GlobalAveragePool", {"r"}, "p");
  add_node(graph, "Flatten", {"p"}, "f");
  add_node(graph, "MatMul", {"f", "w"}, "m");
  add_node(graph, "Gemm", {"m", "w", "b"}, "y");
  return model.SerializeAsString();
}

}  // namespace

std::vector<std::string> fiel::fuzz_seeds() { return {small_model(17), small_model(11)}; }

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fiel::fuzz_file("input.onnx", fiel::fuzz_text(data, size));
  const auto rewriter = fiel::Rewriter::open(file);
  if (!rewriter || !fiel::read_onnx_model(file)) return 0;
  fiel::Ranges ranges;
  fiel::Int8Choice all;
  for (std::size_t i = 0; i < rewriter->regions().size(); ++i) {
    const fiel::Region& region = rewriter->regions()[i];
    ranges[region.activation] = {-1, 2};
    ranges[region.result] = {-1, 2};
    all.regions.insert(region.name);
    (void)rewriter->weight_noise(i, 8);
    (void)rewriter->products(i, 10);
    const auto channels = static_cast<std::size_t>(std::clamp<std::int64_t>(rewriter->input_channels(i), 0, 1 << 16));
    all.channels[region.name] = {.means = std::vector<double>(channels, 0.5), .lows = std::vector<double>(channels, -1),
                                 .highs = std::vector<double>(channels, 2)};
  }
  const auto written = fiel::fuzz_folder() / "written.onnx";
  const auto must_be_a_model = [&](bool is_written) {
    if (!is_written) return;
    const auto model = fiel::read_onnx_model(written);
    if (!model) fmt::print(stderr, "{}\n", model.error().message);
    if (!model) __builtin_trap();
  };
  must_be_a_model(rewriter->write_int8(written, ranges, all).has_value());
  all.results = fiel::Results::kRounded;
  must_be_a_model(rewriter->write_int8(written, ranges, all).has_value());
  all.bias = fiel::Bias::kCorrected;
  all.smoothing = fiel::Smoothing::kHalf;
  must_be_a_model(rewriter->write_int8(written, ranges, all).has_value());
  must_be_a_model(rewriter->write_dynamic_int8(written, 7).has_value());
  must_be_a_model(rewriter->write_weight_int8(written).has_value());
  must_be_a_model(rewriter->write_half(written, fiel::HalfType::kFloat16).has_value());
  must_be_a_model(rewriter->write_half(written, fiel::HalfType::kBFloat16).has_value());
  if (!rewriter->regions().empty()) must_be_a_model(rewriter->write_observer(written).has_value());
  return 0;
}
