// fiel-worker-openvino: OpenVINO as a worker. Takes no arguments; all it does is said over the
// protocol.
#include <unistd.h>
#include <cstdio>
#include <cstring>

#include "worker/engine_openvino.h"

namespace {

constexpr const char* kHelp =
    "fiel-worker-openvino holds OpenVINO for fiel, which starts it and speaks to it over standard "
    "input and output.\n"
    "It is of no use by itself; `fiel engines` says whether it works here. What it understands is "
    "described in\n"
    "docs/protocol.md. To see it answer:\n\n"
    "  echo '{\"id\":1,\"type\":\"hello\",\"protocol\":1}' | fiel-worker-openvino\n";

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argc > 1 || ::isatty(STDIN_FILENO) != 0) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  const auto engine = fiel::make_openvino_engine();
  return fiel::serve(*engine);
}
