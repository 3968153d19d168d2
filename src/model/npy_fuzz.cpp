#include <cstddef>
#include <cstdint>

#include "model/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tensor = fiel::parse_npy(std::as_bytes(std::span(data, size)));
  if (tensor)
    (void)fiel::parse_npy(fiel::format_npy(tensor->view())).value();  // what we write, we can read
  return 0;
}
