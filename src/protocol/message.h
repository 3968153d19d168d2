// The parts of requests that both sides spell: where a sample's tensors lie, and which outputs feed
// which inputs. Everything else in a message is a handful of plain keys (docs/protocol.md), read
// where it is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "contract/contract.h"
#include "model/tensor.h"

namespace fiel {

/// Where one tensor's raw bytes lie.
struct TensorFile {
  std::filesystem::path file;
  std::int64_t offset = 0;  // a multiple of kTensorAlignment
  DType dtype = DType::kFloat32;
  Shape shape;
};
constexpr std::int64_t kTensorAlignment = 64;

struct SampleFiles {
  std::int64_t index = 0;  // names the sample in the answer
  std::map<std::string, TensorFile> inputs;
};

Json to_json(const std::vector<SampleFiles>& samples);
/// Errors name sample, input and key: "samples[3].inputs.x: \"dtype\" is …".
Result<std::vector<SampleFiles>> parse_samples(const Json& samples);

Json to_json(const std::vector<StateLink>& links);
Result<std::vector<StateLink>> parse_state(const Json& links);

/// A list of integers, none below `lowest` (0 for a tensor's shape, -1 where a dynamic axis may
/// stand).
Result<Shape> parse_shape(const Json& shape, std::int64_t lowest);

}  // namespace fiel
