// fiel-worker-trtexec: TensorRT by the user's own trtexec as a worker. `--library FILE` names that program.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "worker/engine_trtexec.h"

namespace {

constexpr const char* kHelp =
    "fiel-worker-trtexec [--library TRTEXEC] [--timing-cache FILE] [--times computed] drives NVIDIA's trtexec for fiel, which starts it and speaks\n"
    "to it over standard input and output. It is of no use by itself; `fiel engines` says whether it works here. Without\n"
    "--library it takes the trtexec on PATH. What it understands is described in docs/protocol.md, what it does with trtexec in\n"
    "docs/tensorrt.md. --times computed is for doubles of trtexec, whose times are not measured. To see it answer:\n\n"
    "  echo '{\"id\":1,\"type\":\"hello\",\"protocol\":1}' | fiel-worker-trtexec\n";

}  // namespace

int main(int argc, char** argv) {
  fiel::TrtexecOptions options;
  bool understood = true;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (argc == 2 && (name == "--help" || name == "-h")) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (i + 1 == argc) {
      understood = false;
    } else if (name == "--library") {
      options.program = argv[i + 1];
    } else if (name == "--timing-cache") {
      options.timing_cache = argv[i + 1];
    } else if (name == "--times" && std::string_view(argv[i + 1]) == "computed") {
      options.times = fiel::Times::kComputed;
    } else {
      understood = false;
    }
  }
  if (!understood || ::isatty(STDIN_FILENO) != 0) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  const auto engine = fiel::make_trtexec_engine(std::move(options));
  return fiel::serve(*engine);
}
