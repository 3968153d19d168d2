#include "cli/exit_status.h"

namespace fiel {

ExitStatus exit_status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kContract: return ExitStatus::kUsage;
    case ErrorKind::kEnvironment:
    case ErrorKind::kProtocol:
    case ErrorKind::kTimeout:
    case ErrorKind::kDied:
    case ErrorKind::kCorrupt: return ExitStatus::kEnvironment;
    case ErrorKind::kCancelled: return ExitStatus::kInterrupted;
  }
  return ExitStatus::kInternal;
}

}  // namespace fiel
