// Where does the kernel say what about this machine? Small files of /proc and /sys, found and read, and nothing made of
// them. What is not there, or not for us to read, is nullopt. The roots may be a made-up tree (tests).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fiel {

struct MachineRoots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

/// Without the white space at its end.
std::optional<std::string> read_small(const std::filesystem::path& path);
/// The whole file is one number.
std::optional<std::int64_t> read_number(const std::filesystem::path& path);

/// The number after "<key> " or "<key>:" in a file with such a line.
std::optional<std::int64_t> number_at(const std::filesystem::path& path, std::string_view key);
/// The text after "<key>", blanks and a colon, of the first such line.
std::optional<std::string> text_at(const std::filesystem::path& path, std::string_view key);

/// Folders cpu0, cpu1, ... by number.
std::vector<std::filesystem::path> cpu_folders(const MachineRoots& roots);
/// The cores that this process may run on.
std::optional<std::vector<int>> usable_cores(const MachineRoots& roots);

/// Our control group (version 2) and those above it, the own one first; empty where there is none.
std::vector<std::filesystem::path> control_groups(const MachineRoots& roots);

}  // namespace fiel
