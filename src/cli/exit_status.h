// The exit statuses of every fiel command: the one list, also shown by `fiel --help`.
#pragma once

#include "base/result.h"

namespace fiel {

enum class ExitStatus : int {
  kDecided = 0,        // improved or not improved
  kUsage = 2,          // wrong command line, contract, model or data
  kUndecided = 3,      // a cap was reached; what is missing is said
  kInfeasible = 4,     // nothing meets the contract
  kEnvironment = 5,    // engine missing, disk full, damaged run folder
  kSealBroken = 6,     // verify: the bundle's bytes are not what was sealed
  kOtherMachine = 7,   // verify: another engine, CPU or driver
  kInaccurate = 8,     // verify, check: outside the accuracy contract
  kSlower = 9,         // verify, bench: not faster
  kInternal = 70,      // a bug of ours
  kInterrupted = 130,  // Ctrl-C; `fiel resume` goes on
};

ExitStatus exit_status_of(ErrorKind kind);

}  // namespace fiel
