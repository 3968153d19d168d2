// Written by `fiel export`: what load.cpp's program is bound to.
#pragma once

#include <string>
#include <vector>

namespace sealed {

struct File {
  const char* path;
  const char* sha256;
};
struct Setting {
  const char* name;
  const char* value;
};
struct Input {
  std::string name;
  std::vector<long> traffic;  // one shape that is served
};

inline constexpr const char* kEngineVersion = "2026.4.1";
inline constexpr const char* kDevice = "CPU";
inline constexpr const char* kArtifactFile = "compiled.blob";
inline constexpr long kBatch = 1;
inline const std::vector<std::string> kCpuFeatures = {
    "avx2",
    "avx512_bf16",
};
inline const std::vector<int> kCores = {0, 1};
inline const std::vector<Setting> kProperties = {
    {"NUM_STREAMS", "1"},
};
inline const std::vector<Setting> kEnvironment = {
    {"ONEDNN_MAX_CPU_ISA", "AVX2"},
};
inline const std::vector<File> kFiles = {
    {"artifact/compiled.blob", "db6198560ec063b2ae492572df0c013e7dce096de34fc0e5107958a561aeca4c"},
    {"artifact/load.json", "ac8ed3765aafc7a267cbc482d08af98cd9e2e167bbec7a5f4494c885a2cebfe1"},
};
inline const std::vector<Input> kInputs = {
    {"x", {1, 3, 48, 320}},
};
inline const std::vector<std::string> kOutputs = {
    "softmax_11.tmp_0",
};

}  // namespace sealed
