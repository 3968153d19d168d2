// What must be on the disk before somebody says so: a name and its bytes survive a power failure only once both were forced there.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace fiel {

/// What a folder holds (files, and which there are) is on the disk when it returns; not what lies in folders below.
Result<> sync_folder(const std::filesystem::path& folder);
/// All of a tree is on the disk when it returns: files, folders, and the tree's own name.
Result<> sync_tree(const std::filesystem::path& path);

}  // namespace fiel
