#include "pool/worker.h"

namespace fiel {

MachineTimes WorkerPool::machine_times() { return {.machine = sample_machine(), .own_cpu_seconds = fiel::own_cpu_seconds()}; }

std::string_view to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnsupported:
      return "unsupported";
    case FailureKind::kBuildError:
      return "build_error";
    case FailureKind::kOutOfMemory:
      return "out_of_memory";
    case FailureKind::kCrash:
      return "crash";
    case FailureKind::kTimeout:
      return "timeout";
    case FailureKind::kProtocol:
      return "protocol";
    case FailureKind::kEnvironment:
      return "environment";
    case FailureKind::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace fiel
