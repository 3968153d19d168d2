// A worker's lines, from the bytes on: whatever it says is an answer that fits or an error of ours.
#include "pool/answers.h"

#include <nlohmann/json.hpp>

#include "base/fuzz.h"
#include "protocol/channel.h"
#include "protocol/message.h"

std::vector<std::string> fiel::fuzz_seeds() {
  return {
      R"({"id":1,"type":"result","protocol":1,"engine":"e","version":"1","devices":[{"name":"CPU"}],"knobs":[{"name":"N","kind":"property","values":["1","2"],"default":"1","only_if":[{"knob":"M","values":["a"]}]}],"float32_settings":{"N":"1"}})"
      "\n",
      R"({"id":2,"type":"result","build_seconds":0.5,"artifact":"00","effective":{"N":"2"},"precisions":{"f32":3},"placement":{"CPU":3},"ignored":["N"],"graph_digest":"00"})"
      "\n",
      R"({"id":3,"type":"result","load_seconds":0.5,"inputs":[{"name":"x","dtype":"float32","shape":[-1,4]}],"outputs":[{"name":"y","dtype":"float32","shape":[-1,4]}],"parallel_requests":1})"
      "\n",
      R"({"id":4,"type":"result","seconds":0.1,"outputs":[{"index":0,"files":{"y":"0.npy"}},{"index":1,"files":{"y":"../1.npy"}}]})"
      "\n",
      R"({"id":5,"type":"result","count":5,"seconds":0.1,"latency_count":5,"warmup_seconds":[0.1,0.2],"outputs":[{"index":0,"files":{"y":"0.npy"}}]})"
      "\n",
      R"({"id":6,"type":"result","nodes":[{"names":["conv","relu"],"seconds":0.001}]})"
      "\n",
      R"([{"index":0,"inputs":{"x":{"file":"/pack","offset":64,"dtype":"float32","shape":[1,4]}}}])"
      "\n"};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fiel::SampleSet set = [] {
    fiel::SampleSet two;
    two.samples.resize(2);
    return two;
  }();
  fiel::LineSplitter lines;
  const std::string_view text = fiel::fuzz_text(data, size);
  const std::size_t half = size / 2;  // it may come in any pieces
  if (!lines.feed(text.substr(0, half)) || !lines.feed(text.substr(half))) return 0;
  while (const auto line = lines.next()) {
    const auto answer = fiel::parse_json(*line);
    if (!answer) continue;
    (void)fiel::parse_samples(*answer);
    (void)fiel::parse_state(*answer);
    if (!answer->is_object()) continue;  // the pool refuses those before
    const fiel::SampleChoice choice{.set = set, .indices = {0, 1}};
    const auto folder = fiel::fuzz_folder();
    (void)fiel::read_hello(*answer);
    (void)fiel::read_build(*answer);
    (void)fiel::read_load(*answer);
    (void)fiel::read_profile(*answer);
    const auto inferred = fiel::read_infer(*answer, {.samples = choice}, folder);
    if (inferred) {
      for (const auto& sample : inferred->outputs) {
        for (const auto& [name, file] : sample.files) {
          if (std::filesystem::canonical(file).parent_path() != std::filesystem::canonical(folder)) __builtin_trap();
        }
      }
    }
    (void)fiel::read_measure(*answer, {.samples = choice}, {.latency_file = folder / "block.f64", .output_dir = folder});
  }
  return 0;
}
