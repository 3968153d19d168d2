#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace fiel {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kContract: return "contract";
    case ErrorKind::kEnvironment: return "environment";
    case ErrorKind::kProtocol: return "protocol";
    case ErrorKind::kTimeout: return "timeout";
    case ErrorKind::kDied: return "died";
    case ErrorKind::kCancelled: return "cancelled";
    case ErrorKind::kCorrupt: return "corrupt";
  }
  return "unknown";
}

Error Error::with_context(std::string_view context) && {
  message = std::string(context) + ": " + message;
  return std::move(*this);
}

namespace detail {

// _Exit(70): no destructors, so nothing half-built is flushed; the journal is already on disk.
void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "fiel: internal error at %s:%d: %s does not hold; please report this\n", file,
               line, condition);
  std::_Exit(70);
}

}  // namespace detail
}  // namespace fiel
