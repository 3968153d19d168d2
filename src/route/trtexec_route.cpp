#include "route/trtexec_route.h"

#include <fmt/format.h>

#include <algorithm>

namespace fiel {

std::string to_trtexec_route(const std::map<std::string, std::string>& settings) {
  std::string route;
  for (const auto& [name, value] : settings) {
    if (!name.starts_with(kTrtexecRoutePrefix)) continue;
    route += fmt::format("{}-{}={}", route.empty() ? "" : " ", name.substr(kTrtexecRoutePrefix.size()), value);
  }
  return route;
}

Result<std::map<std::string, std::string>> from_trtexec_route(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (!word.starts_with('-') || equals == std::string_view::npos || equals < 2 || equals + 1 == word.size()) {
      return fail(ErrorKind::kCorrupt, fmt::format("\"{}\" is no -option=value of a build route", word));
    }
    const std::string name = fmt::format("{}{}", kTrtexecRoutePrefix, word.substr(1, equals - 1));
    if (!settings.emplace(name, word.substr(equals + 1)).second) {
      return fail(ErrorKind::kCorrupt, fmt::format("a build route has \"{}\" twice", word.substr(0, equals)));
    }
  }
  return settings;
}

}  // namespace fiel
