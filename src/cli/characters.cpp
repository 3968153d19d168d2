#include "cli/characters.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "cli/command.h"

namespace fiel {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 7> kStandIns = {
    {{"µ", 'u'}, {"μ", 'u'}, {"…", '~'}, {"–", '-'}, {"−", '-'}, {"·", '.'}, {"×", 'x'}}};

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

bool is_utf8(const LocaleNames& names) {
  for (const char* name : {names.lc_all, names.lc_ctype, names.lang}) {
    if (name == nullptr || *name == '\0') continue;
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

std::string in_ascii(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && !starts_character(text[size])) ++size;
    const std::string_view one = text.substr(0, size);
    const auto found = std::ranges::find(kStandIns, one, &std::pair<std::string_view, char>::first);
    ascii += static_cast<unsigned char>(one[0]) < 0x80 ? one[0] : found != kStandIns.end() ? found->second : '?';
    text.remove_prefix(size);
  }
  return ascii;
}

std::string shown_on(int descriptor, std::string_view text) {
  const bool plain = !is_terminal(descriptor) || is_utf8({.lc_all = std::getenv("LC_ALL"), .lc_ctype = std::getenv("LC_CTYPE"),
                                                          .lang = std::getenv("LANG")});
  return plain ? std::string(text) : in_ascii(text);
}

}  // namespace fiel
