// fork and exec, and nothing of what comes after: the inner half of subprocess.h.
#pragma once

#include "base/subprocess.h"

namespace fiel {

struct Launched {
  pid_t pid = 0;
  Fd input, output, errors;  // our ends, non-blocking; errors not open with an error_log
};

/// Returns when the program runs, or says why it does not. `environment` is all that it gets.
Result<Launched> launch(const ChildSpec& spec, std::vector<std::string> environment);

/// Of this very process: no core file, and the first to go when memory runs out, before whoever started it. Async-signal-safe.
void step_behind_who_started_us();

}  // namespace fiel
