#include <cstddef>
#include <cstdint>
#include <string>

#include "contract/contract.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fiel::parse_contract(std::string(reinterpret_cast<const char*>(data), size),
                             "/contract.toml");
  return 0;
}
