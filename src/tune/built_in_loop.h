// What `fiel doctor` times where it is given no model: the engine that is only a loop, with a model and samples to match.
#pragma once

#include <filesystem>

#include "contract/contract.h"

namespace fiel {

/// Writes the tiny model and its samples into `folder`; the contract names the loop's own worker.
Result<Contract> built_in_loop(const std::filesystem::path& folder);

}  // namespace fiel
