#include "base/cpu_list.h"

#include <charconv>
#include <set>

namespace fiel {
namespace {

constexpr int kMaxCore = 4095;  // Linux's own bound on x86 (CONFIG_NR_CPUS is at most 8192, far off)

std::optional<int> take_core(std::string_view& text) {
  int core = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (code != std::errc() || core < 0 || core > kMaxCore) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return core;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::set<int> cores;
  while (true) {
    const auto first = take_core(text);
    if (!first) return std::nullopt;
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_core(text);
    }
    if (!last || *last < *first) return std::nullopt;
    for (int core = *first; core <= *last; ++core) {
      if (!cores.insert(core).second) return std::nullopt;
    }
    if (text.empty()) return std::vector<int>(cores.begin(), cores.end());
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace fiel
