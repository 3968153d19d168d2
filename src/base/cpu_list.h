// "0-1,4": cores as taskset, cgroups and the kernel's files write them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace fiel {

/// Ascending; nullopt for text that is no such list, or names a core twice.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace fiel
