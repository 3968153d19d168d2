#include "base/fuzz.h"

#include <fstream>

#include "base/files.h"

namespace fiel {

const std::filesystem::path& fuzz_folder() {
  // In memory where that is offered: a target runs thousands of times a second.
  static const TempFolder folder =
      TempFolder::create(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "", "fiel-fuzz-").value();
  return folder.path();
}

std::filesystem::path fuzz_file(std::string_view name, std::string_view bytes) {
  const std::filesystem::path path = fuzz_folder() / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
  return path;
}

}  // namespace fiel
