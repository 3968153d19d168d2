#include "base/fuzz.h"
#include "replay/recording.h"

std::vector<std::string> fiel::fuzz_seeds() {
  return {"a,b,cost\n0,0,3\n0,1,2.5\r\n1,1,nan\n",
          R"({"metadata":{"timeunit":"miliseconds"},"results":[{"configuration":{"block":16,"pad":0},"times":{"compilation":900,)"
          R"("runtimes":[4,6]},"invalidity":"correct","measurements":[{"name":"time","value":5.0,"unit":""}],"objectives":["time"]},)"
          R"({"configuration":{"block":8},"times":{"compilation":500},"invalidity":"runtime","measurements":[],"objectives":["time"]}]})",
          R"({"engine":"ov","variant":"fp32","shape":"dyn","opts":{"cfg":{"s.x":"1"}},"rounds":[{"p50":2.0,"wall_s":0.5}],)"
          R"("acc":{"tune":0.98,"nan_samples":0,"eval_s":1.0},"err":{"maxabs": NaN}})"
          "\n"};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fiel::fuzz_text(data, size));
  for (const auto parse : {fiel::parse_t4, fiel::parse_csv, fiel::parse_own}) {
    auto raw = parse(text);
    if (!raw) continue;
    const auto recording = fiel::make_recording("fuzz", *std::move(raw));
    if (!recording) continue;
    for (const auto& [route, recorded] : recording->records) {
      if (recorded.found() && !(*recorded.found() > 0)) __builtin_trap();
    }
  }
  return 0;
}
