// Opening a file whose name others can touch while we look: a program of theirs may put a pipe or a link in its place at any
// moment, so what was opened is looked at, never the name before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace fiel {

enum class Links {
  kFollowed,  // the user's own files, and ours
  kRefused,   // what another program wrote: neither the file nor the folder that holds it may be a link
};

struct RegularFile {
  Fd descriptor;
  std::int64_t bytes = 0;  // when it was opened
};

/// To read from. Anything but a regular file is refused, and nothing is waited for: opening a pipe waits for its writer.
Result<RegularFile> open_regular(const std::filesystem::path& path, Links links);

/// The next bytes of it, at least one; 0: there are no more. `path` is for the error.
Result<std::size_t> read_some(const RegularFile& file, std::span<std::byte> into, const std::filesystem::path& path);

/// All from where it stands, as read_text of files.h.
Result<std::string> read_text(const RegularFile& file, const std::filesystem::path& path, std::int64_t max_bytes);

}  // namespace fiel
