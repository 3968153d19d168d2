// Can what a build left be kept? Who reads or ships an artifact would follow a link out of it, wait for ever at a pipe, read for
// ever in a file of nothing but a hole, and hold as many names in memory as it has files.
#pragma once

#include <filesystem>
#include <string>

namespace fiel {

/// Why not, in words; empty: it can. Whoever wrote it has ended.
std::string why_no_artifact(const std::filesystem::path& folder);

}  // namespace fiel
