// Runs `trtexec` once and reads what it printed. The program stays in the worker's own process group, so that who kills, stops
// or weighs the worker's group does it to trtexec too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "worker/engine.h"

namespace fiel::trtexec {

struct Call {
  std::vector<std::string> arguments = {};  // without the program
  std::filesystem::path folder = {};        // its working folder, where it leaves files named by itself
  std::filesystem::path log = {};           // gets its standard output and error; written over
};

struct Ran {
  ExitState exit;
  std::string text;  // all that it printed; of more than 32 MiB the end
  double seconds = 0;
};

/// An error only where the program could not be run at all; how it ended is in Ran.
EngineResult<Ran> run(const std::filesystem::path& program, const Call& call);

/// The same, and anything but exit status 0 is an error (error_of).
EngineResult<Ran> run_well(const std::filesystem::path& program, const Call& call);

/// `named`, or where the shell would find `trtexec`; "unsupported" with what to do where there is none.
EngineResult<std::filesystem::path> find_program(const std::filesystem::path& named);

}  // namespace fiel::trtexec
