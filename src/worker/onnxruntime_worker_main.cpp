// fiel-worker-onnxruntime: ONNX Runtime as a worker. `--library FILE` is the library to load; all else is said over the protocol.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "worker/engine_onnxruntime.h"

namespace {

constexpr const char* kHelp =
    "fiel-worker-onnxruntime [--library FILE] holds ONNX Runtime for fiel, which starts it and speaks to it over standard\n"
    "input and output. It is of no use by itself; `fiel engines` says whether it works here. What it understands is described\n"
    "in docs/protocol.md. To see it answer:\n\n"
    "  echo '{\"id\":1,\"type\":\"hello\",\"protocol\":1}' | fiel-worker-onnxruntime\n";

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 2 && (first == "--help" || first == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const bool named = argc == 3 && first == "--library";
  if ((argc > 1 && !named) || ::isatty(STDIN_FILENO) != 0) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  const auto engine = fiel::make_onnxruntime_engine(named ? argv[2] : "");
  return fiel::serve(*engine);
}
