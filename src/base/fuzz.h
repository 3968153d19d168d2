// What a fuzz target (*_fuzz.cpp beside the code it feeds) is made of: LLVMFuzzerTestOneInput, and seeds to begin with. It runs
// under libFuzzer (preset fuzz) and, without coverage to guide it, in ./test
// (tests/fuzz_main.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fiel {

/// Whole inputs that the target takes, small ones first. Each target defines its own.
std::vector<std::string> fuzz_seeds();

inline std::string_view fuzz_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file of these bytes for readers that want a path; the same one each time, in a folder of this process alone.
std::filesystem::path fuzz_file(std::string_view name, std::string_view bytes);
/// That folder.
const std::filesystem::path& fuzz_folder();

}  // namespace fiel
