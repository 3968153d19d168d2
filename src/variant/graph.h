// What every rewriting does to an ONNX graph: constants found and read, weights rounded to 8 bits, nodes and constants added,
// what nobody reads dropped, the file written. Private to variant/: shows protobuf. Knows no kind of rewriting.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "onnx-ml.pb.h"

namespace fiel::graph {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// The node's name, or its first output's where it has none.
std::string name_of(const onnx::NodeProto& node);
/// An operator of ONNX's own, not of some other domain.
bool is_own(const onnx::NodeProto& node);
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
/// An attribute that is a whole number.
std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise);

/// Where a tensor's constant value stands: an initialiser, or the value of a Constant node.
using Constants = std::map<std::string, const onnx::TensorProto*>;
Constants constants_of(const onnx::GraphProto& graph);

/// Nothing where the tensor is not float32, or holds another number of elements than it says.
std::optional<std::vector<float>> floats_of(const onnx::TensorProto& tensor);

/// A float32 constant of as many elements as its last axis is long, `channels`: one for each of them.
std::optional<std::vector<float>> floats_by_channel(const Constants& constants, const std::string& tensor, std::size_t channels);

/// The axis of a Conv's, MatMul's or Gemm's weights along which the output's channels lie.
int channel_axis(const onnx::NodeProto& node, const onnx::TensorProto& weights);
/// In which channel the k-th element lies.
std::size_t channel_of(const onnx::TensorProto& tensor, int axis, std::size_t k);

struct QuantisedWeights {
  std::vector<std::int8_t> values;
  std::vector<float> scales;  // by channel
};
/// Symmetric, w = scale[channel] * q. A channel of zeros has scale 1.
QuantisedWeights quantise(const std::vector<float>& values, const onnx::TensorProto& tensor, int axis, int bits);

template <class T>
void add_constant(onnx::GraphProto& graph, const std::string& name, onnx::TensorProto::DataType type,
                  const std::vector<std::int64_t>& dims, const std::vector<T>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
}

bool has_constant(const onnx::GraphProto& graph, const std::string& name);

/// A node named as its output.
onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* op, std::initializer_list<std::string> inputs,
                          const std::string& output);
void add_attribute(onnx::NodeProto& node, const char* name, std::int64_t value);
/// Its tensor type, in which a shape may be said.
onnx::TypeProto::Tensor& add_output(onnx::GraphProto& graph, const std::string& name, onnx::TensorProto::DataType type);

/// Int8 weights and the DequantizeLinear that makes float32 of them; returns the name of what comes out.
std::string add_dequantised(onnx::GraphProto& graph, const std::string& weights, const onnx::TensorProto& tensor, int axis,
                            int bits);

/// Constants that nobody reads any more; sub-graphs were refused before.
void drop_unused_constants(onnx::GraphProto& graph);

std::unexpected<Error> refuse(std::string message, std::string hint = {});

/// The file, and beside it <name>.data with the large constants where the model is too large for one file.
Result<> write_model(onnx::ModelProto model, const std::filesystem::path& file);

}  // namespace fiel::graph
