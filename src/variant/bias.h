// What rounding the weights adds to a node's output on average, and the bias that takes it away again. Private to variant/.
//
// With weights W + dW the output of a product is off by dW x, on average over the data by dW E[x]; that is taken from the bias
// (Nagel et al. 2019, "Data-Free Quantization Through Weight Equalization and Bias Correction", 4.2; here E[x] by input channel is
// observed, not derived). Padding at the borders of a convolution is left out of account.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onnx-ml.pb.h"

namespace fiel {

/// By output channel: (W - quantised W) E[x]. Empty where `means` are not as many as the input channels.
std::vector<float> mean_error(const onnx::NodeProto& node, const onnx::TensorProto& weights, int weight_bits,
                              std::span<const double> means);

/// How many channels of its activation the node sums over; 0: it is of another form (see Rewriter::input_channels).
std::int64_t input_channels(const onnx::NodeProto& node, const onnx::TensorProto& weights);

/// Where there are some: the input channel to which the k-th of the weights belongs.
std::size_t input_channel_of(const onnx::NodeProto& node, const onnx::TensorProto& weights, std::size_t k);

}  // namespace fiel
