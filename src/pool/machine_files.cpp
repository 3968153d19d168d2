#include "pool/machine_files.h"

#include <algorithm>
#include <charconv>

#include "base/cpu_list.h"
#include "base/files.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> read_small(const fs::path& path) {
  auto text = read_text(path);
  if (!text) return std::nullopt;
  text->erase(text->find_last_not_of(" \t\n") + 1);
  return *std::move(text);
}

std::optional<std::int64_t> read_number(const fs::path& path) {
  const auto text = read_small(path);
  return text ? leading_number(*text) : std::nullopt;
}

std::optional<std::string> text_at(const fs::path& path, std::string_view key) {
  const auto text = read_small(path);
  if (!text) return std::nullopt;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line = std::string_view(*text).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t start = line.find_first_not_of(" \t:");
    // "cpu" is not the key of "cpu0": something that separates must follow.
    if (start == 0) continue;
    return start == std::string_view::npos ? std::string() : std::string(line.substr(start));
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_at(const fs::path& path, std::string_view key) {
  const auto text = text_at(path, key);
  return text ? leading_number(*text) : std::nullopt;
}

std::vector<fs::path> cpu_folders(const MachineRoots& roots) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(roots.sys / "devices/system/cpu", code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("cpu") || name.size() < 4 || name.find_first_not_of("0123456789", 3) != std::string::npos) {
      continue;
    }
    if (const auto number = leading_number(std::string_view(name).substr(3))) found.emplace_back(*number, entry.path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> folders;
  for (auto& [number, path] : found) folders.push_back(std::move(path));
  return folders;
}

std::optional<std::vector<int>> usable_cores(const MachineRoots& roots) {
  const auto text = text_at(roots.proc / "self/status", "Cpus_allowed_list");
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::vector<fs::path> control_groups(const MachineRoots& roots) {
  const auto own = text_at(roots.proc / "self/cgroup", "0:");
  if (!own || !own->starts_with('/')) return {};
  const fs::path root = roots.sys / "fs/cgroup";
  std::vector<fs::path> groups;
  for (fs::path below = fs::path(*own).relative_path(); !below.empty(); below = below.parent_path()) {
    groups.push_back(root / below);
  }
  groups.push_back(root);
  return groups;
}

}  // namespace fiel
