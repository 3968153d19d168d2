// Is an answer of a worker one that the protocol allows, and does it fit what was asked? Reads
// result objects and the files that they name into the structs of requests.h. Every lie is an Error
// of kind kProtocol that says what was wrong.
#pragma once

#include <filesystem>

#include "base/json.h"
#include "base/result.h"
#include "pool/requests.h"

namespace fiel {

Result<HelloResult> read_hello(const Json& answer);
Result<BuildResult> read_build(const Json& answer);
Result<LoadResult> read_load(const Json& answer);

Result<std::vector<NodeSeconds>> read_profile(const Json& answer);

/// `output_dir` is the folder that the request named.
Result<InferResult> read_infer(const Json& answer, const InferOrder& order,
                               const std::filesystem::path& output_dir);

struct MeasurePlaces {
  std::filesystem::path latency_file;
  std::filesystem::path output_dir;
};
Result<MeasureResult> read_measure(const Json& answer, const MeasureOrder& order,
                                   const MeasurePlaces& places);

}  // namespace fiel
