#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = fiel::parse_json({reinterpret_cast<const char*>(data), size});
  if (json) (void)fiel::parse_json(fiel::dump_json(*json)).value();  // what we write, we can read
  return 0;
}
