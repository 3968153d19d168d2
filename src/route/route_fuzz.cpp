#include "base/fuzz.h"
#include "route/space.h"

std::vector<std::string> fiel::fuzz_seeds() {
  return {"engine=openvino", "engine=openvino NUM_STREAMS=2 shape=static", "NUM_STREAMS=[1|2] shape=[dynamic|static] ...",
          "'NUM_STREAMS=2'"};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fiel::Space space = fiel::Space::create(
      {{.engine = "openvino",
        .knobs = {{.name = "NUM_STREAMS", .values = {"1", "2"}, .default_value = "1", .help = {}, .only_if = {}},
                  {.name = "shape", .values = {"dynamic", "static"}, .default_value = "dynamic", .help = {}, .only_if = {}}},
        .forbidden = {}}}).value();
  const std::string_view text = fiel::fuzz_text(data, size);
  if (const auto route = fiel::parse_route(text, space)) {
    // What is written is read as the same.
    if (fiel::parse_route(fiel::to_string(*route), space).value() != *route) __builtin_trap();
  }
  (void)fiel::restrict_space(space, text);
  return 0;
}
