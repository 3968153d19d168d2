#include "report/page.h"

#include <algorithm>
#include <vector>

namespace fiel {
namespace {

constexpr int kNarrowest = 40;

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::kNone: return "";
    case Paint::kStrong: return "\033[1m";
    case Paint::kDim: return "\033[2m";
    case Paint::kGood: return "\033[1;32m";
    case Paint::kBad: return "\033[1;31m";
    case Paint::kDoubtful: return "\033[1;33m";
  }
  return "";
}

// Words longer than a line (paths, commands) stay whole: a broken one can't be copied.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t size = width_of(word);
    if (used > 0 && used + 1 + size > width) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    if (!word.empty()) {
      if (used > 0) line += ' ';
      line += word;
      used += size + (used > 0 ? 1 : 0);
    }
    if (end < text.size() && text[end] == '\n') {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    at = end + 1;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t characters = 0, end = 0;
  while (end < text.size()) {
    if (starts_character(text[end]) && ++characters == width) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

Page::Page(int width, Colour colour)
    : width_(static_cast<std::size_t>(std::max(width, kNarrowest))), colour_(colour) {}

void Page::put(std::string_view line, Paint paint) {
  const bool painted = colour_ == Colour::kOn && paint != Paint::kNone && !line.empty();
  if (painted) text_ += code_of(paint);
  text_ += line;
  if (painted) text_ += "\033[0m";
}

void Page::paragraph(std::string_view label, std::string_view text, Paint paint) {
  const std::size_t indent = label.empty() ? 0 : kLabelWidth;
  bool first = true;
  for (const std::string& line : wrapped(text, width_ - indent)) {
    if (indent > 0) {
      const std::string name = first ? cut(label, indent - 1) : std::string();
      put(name, Paint::kStrong);
      text_ += std::string(indent - width_of(name), ' ');
    }
    put(line, paint);
    text_ += '\n';
    first = false;
  }
}

void Page::indented(std::size_t indent, std::string_view text, Paint paint) {
  for (const std::string& line : wrapped(text, width_ - std::min(indent, width_ / 2))) {
    text_ += std::string(indent, ' ');
    put(line, paint);
    text_ += '\n';
  }
}

void Page::command(std::size_t indent, std::string_view text, Paint paint) {
  text_ += std::string(indent, ' ');
  put(text, paint);
  text_ += '\n';
}

void Page::line(std::string_view text, Paint paint) {
  text = text.substr(0, text.find('\n'));
  text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
  put(cut(text, width_), paint);
  text_ += '\n';
}

void Page::blank() { text_ += '\n'; }

}  // namespace fiel
