#include "base/files.h"
#include "base/fuzz.h"
#include "contract/contract.h"

std::vector<std::string> fiel::fuzz_seeds() {
  std::vector<std::string> seeds = {"fiel = 1\n[model]\npath = \"m.onnx\"\n"};
  for (const char* example : {"ocr", "filetype"}) {
    seeds.push_back(read_text(std::filesystem::path(FIEL_SOURCE_DIR) / "examples" / example / "contract.toml").value());
  }
  seeds.push_back(R"(fiel = 1
[model]
path = "m.onnx"
[[model.shape]]
weight = 0.5
x = [1, 3, 48, 320]
[model.input.ids]
range = [0, 30521]
[[model.state]]
output = "state_out"
input = "state_in"
[[variant]]
name = "mine"
path = "mine.onnx"
[data]
tuning = "t"
[workload]
scenario = "server"
objective = "latency_p99"
target_qps = 200
[limits]
peak_memory = "400 MiB"
latency_p99 = "8 ms"
[accuracy]
reference = "files"
claim = "this_set"
[[accuracy.tensor]]
output = "logits"
metric = "cosine"
min = 0.99
allow_non_finite = "where_reference_is"
[[accuracy.task]]
name = "error"
evaluator = ["python3", "score.py"]
max_drop_relative = 0.01
lower_is_better = true
timeout = "2 min"
group = "speaker"
[accuracy.task.slices]
small = { max_drop = 0.03 }
[budget]
wall = "20 min"
)");
  return seeds;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fiel::parse_contract(std::string(fiel::fuzz_text(data, size)), "/contract.toml");
  return 0;
}
