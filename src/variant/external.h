// Weights that lie in files beside the model: fetched when it is read, moved out when it is written. Private to variant/.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "onnx-ml.pb.h"

namespace fiel::graph {

/// Above that a model is written with a file for its weights; protobuf's own limit is 2 GiB.
constexpr std::size_t kOneFileBytes = std::size_t{1} << 30;

/// All weights become part of `model`, in memory. Whether the files are there and may be read: read_onnx_model().
Result<> fetch_weights(onnx::ModelProto& model, const std::filesystem::path& folder);

/// Initialisers of more than a few bytes go into `file`, beside which the model is to be written.
Result<> move_weights_out(onnx::ModelProto& model, const std::filesystem::path& file);

}  // namespace fiel::graph
