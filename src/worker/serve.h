// Answers requests over two descriptors, one at a time, until `bye` or the end of input. engine.h's
// serve(Engine&) is this on the process's own descriptors.
#pragma once

#include "worker/engine.h"

namespace fiel {

struct Descriptors {
  int requests;
  int answers;
};

/// 0 after `bye` or the end of input; 1 when a line is no request that could be answered, or nobody
/// reads answers.
int serve_on(Engine& engine, Descriptors descriptors);

}  // namespace fiel
