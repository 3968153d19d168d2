#include <nlohmann/json.hpp>

#include "base/fuzz.h"
#include "base/json.h"

std::vector<std::string> fiel::fuzz_seeds() {
  return {"0", "-1.5e300", "\"\\u00e9\\n\"", "[1,[2,[]],{}]", R"({"a":1,"b":[true,false,null],"c":{"d":"e"}})", "[\"\xc3\xa9\"]"};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = fiel::parse_json(fiel::fuzz_text(data, size));
  if (json) (void)fiel::parse_json(fiel::dump_json(*json)).value();  // what we write, we can read
  return 0;
}
