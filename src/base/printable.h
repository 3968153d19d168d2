// Makes text that another program wrote fit to be shown and recorded: valid UTF-8, no control
// characters.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

/// Invalid bytes become U+FFFD; terminal escapes go; of a line that was overwritten by '\r' the
/// last state stays; other control characters but '\n' and '\t' become blanks.
std::string printable(std::string_view text);

/// The last `count` lines.
std::string last_lines(std::string_view text, int count);

/// printable() of at most `max_bytes` of it, with "..." where something was left out.
std::string excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace fiel
