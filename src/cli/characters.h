// Which characters does a terminal show? Where the locale is not UTF-8 ("LC_ALL=C"), only ASCII; what goes into files and pipes is
// UTF-8 always.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

/// Does this locale name UTF-8? As the C library has it: LC_ALL before LC_CTYPE before LANG; what is empty counts as absent.
struct LocaleNames {
  const char* lc_all = nullptr;
  const char* lc_ctype = nullptr;
  const char* lang = nullptr;
};
bool is_utf8(const LocaleNames& names);

/// One ASCII character for each other one, so that columns stay where they are: "µs" -> "us", "…" -> "~", "–" -> "-".
std::string in_ascii(std::string_view text);

/// `text` as the terminal behind `descriptor` can show it; unchanged where it is none.
std::string shown_on(int descriptor, std::string_view text);

}  // namespace fiel
