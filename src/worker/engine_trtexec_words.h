// What does `trtexec` say of itself, of its device, of a build and of why it failed? Reads its printed text; runs nothing.
// Written from the public sources of trtexec (TensorRT 10.0 to 11.1): what is not said there is not guessed here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/subprocess.h"
#include "model/tensor.h"
#include "route/knob.h"
#include "worker/engine.h"

namespace fiel::trtexec {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
};
/// Of the line "&&&& RUNNING TensorRT.trtexec [TensorRT v110100] [b106] # ...". Up to 8.x the number has two digits less.
std::optional<Version> version_in(std::string_view text);
std::string dotted(const Version& version);  // "11.1.0"

/// Names of the options that --help lists, without dashes.
std::set<std::string> options_in(std::string_view help);

struct Device {
  std::string name;        // "NVIDIA H200"
  std::string capability;  // "9.0"; may be empty
};
/// What trtexec selected; nothing where it found no device.
std::optional<Device> device_in(std::string_view text);

/// "Engine built in 12.3 sec."
std::optional<double> build_seconds_in(std::string_view text);
/// The most device memory that TensorRT says to have held itself; nothing where it says none (CUDA's own context is never in it).
std::optional<std::int64_t> device_memory_bytes_in(std::string_view text);

/// A tensor that --dumpRawBindingsToFile wrote.
struct Dumped {
  std::string name;
  std::string type;  // trtexec's word: "fp32"
  Shape shape;
  std::string file;  // in trtexec's working folder
};
std::vector<Dumped> outputs_dumped_in(std::string_view text);
std::optional<DType> dtype_of(std::string_view type);

/// Why a run of trtexec was no success, with its own first errors as message.
EngineError error_of(const ExitState& exit, std::string_view text);

/// A knob database as --helpBuildRoute prints it. Knobs are named as trtexec_route.h says.
struct RouteKnobs {
  std::string tuner_version;
  std::vector<Knob> knobs;
  struct LeftOut {
    std::string name;
    std::string why;
  };
  std::vector<LeftOut> left_out;
};
Result<RouteKnobs> read_route_knobs(std::string_view text);

}  // namespace fiel::trtexec
