#include "base/printable.h"

namespace fiel {
namespace {

// Length of the UTF-8 sequence at the start of `text`; 0 if it is none (overlong forms and
// surrogates are none).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

// Length of the terminal escape "ESC [ ... letter" at the start of `text`, or 1 for a lone ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return end < text.size() && text[end] >= 0x40 ? end + 1 : end;
}

void erase_current_line(std::string& text) {
  const std::size_t newline = text.rfind('\n');
  text.erase(newline == std::string::npos ? 0 : newline + 1);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const char c = text[0];
    std::size_t taken = 1;
    if (c == '\x1b') {
      taken = escape_length(text);
    } else if (c == '\r') {
      const bool line_end = text.size() == 1 || text[1] == '\n' || text[1] == '\r';
      if (!line_end) erase_current_line(result);
    } else if (c != '\n' && c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == '\x7f')) {
      result += ' ';
    } else if (const std::size_t length = sequence_length(text); length > 0) {
      result.append(text.substr(0, length));
      taken = length;
    } else {
      result += "\xEF\xBF\xBD";
    }
    text.remove_prefix(taken);
  }
  return result;
}

std::string last_lines(std::string_view text, int count) {
  std::size_t start = text.size();
  if (start > 0 && text[start - 1] == '\n') --start;
  while (start > 0) {
    if (text[start - 1] == '\n' && --count == 0) break;
    --start;
  }
  return std::string(text.substr(start));
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return printable(text);
  // Not in the middle of a character, which would show as damage that is not there.
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return printable(text.substr(0, end)) + "...";
}

}  // namespace fiel
