#include "base/files.h"
#include "base/fuzz.h"
#include "contract/contract.h"
#include "contract/full_contract.h"

std::vector<std::string> fiel::fuzz_seeds() {
  std::vector<std::string> seeds = {"fiel = 1\n[model]\npath = \"m.onnx\"\n"};
  for (const char* example : {"ocr", "filetype"}) {
    seeds.push_back(read_text(std::filesystem::path(FIEL_SOURCE_DIR) / "examples" / example / "contract.toml").value());
  }
  seeds.emplace_back(kFullContract);
  // What that one does not have.
  seeds.push_back(R"(fiel = 1
[model]
path = "m.onnx"
[[variant]]
name = "mine"
model = "mine.onnx"
[[variant]]
name = "made"
program = ["python3", "make.py"]
[data]
tuning = "t"
[workload]
scenario = "server"
objective = "latency_p99"
target_qps = 200
[accuracy]
reference = "files"
[[accuracy.task]]
name = "error"
evaluator = ["python3", "score.py"]
max_drop_relative = 0.01
lower_is_better = true
)");
  return seeds;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fiel::parse_contract(std::string(fiel::fuzz_text(data, size)), "/contract.toml");
  return 0;
}
