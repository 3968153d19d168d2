// What a coordinator that was killed could not end: processes that its workers started and that outlived them.
#pragma once

#include <filesystem>

namespace fiel {

/// SIGKILL to every process that some fiel started (it has our mark in its environment) and that stands in `folder` or below,
/// which nobody else may use meanwhile. How many there were.
int end_strays(const std::filesystem::path& folder);

}  // namespace fiel
