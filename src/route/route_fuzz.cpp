#include <cstddef>
#include <cstdint>

#include "route/space.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fiel::Space space =
      fiel::Space::create({{.engine = "openvino",
                            .knobs = {{.name = "NUM_STREAMS", .values = {"1", "2"}, .default_value = "1"},
                                      {.name = "shape", .values = {"dynamic", "static"}, .default_value = "dynamic"}},
                            .forbidden = {}}})
          .value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto route = fiel::parse_route(text, space)) {
    // What is written is read as the same.
    if (fiel::parse_route(fiel::to_string(*route), space).value() != *route) __builtin_trap();
  }
  (void)fiel::restrict_space(space, text);
  return 0;
}
