// fiel-worker-loop: the built-in loop of `fiel doctor` as a worker (docs/protocol.md).
#include "worker/engine_loop.h"

int main() {
  const auto engine = fiel::make_loop_engine();
  return fiel::serve(*engine);
}
