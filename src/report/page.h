// Plain text for a terminal of a given width: wrapped paragraphs with a label at the left, cut lines, colour where wanted.
// Knows nothing of runs. Widths count characters (code points), not bytes.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

enum class Paint { kNone, kStrong, kDim, kGood, kBad, kDoubtful };
enum class Colour { kOff, kOn };

std::size_t width_of(std::string_view text);
/// At most `width` characters; the last one is an ellipsis where something was cut off.
std::string cut(std::string_view text, std::size_t width);

class Page {
 public:
  Page(int width, Colour colour);

  /// Words are wrapped; lines after the first stand under the text, not under the label. `label` may be empty.
  void paragraph(std::string_view label, std::string_view text, Paint paint = Paint::kNone);
  /// A paragraph below another one: `indent` blanks before each line.
  void indented(std::size_t indent, std::string_view text, Paint paint = Paint::kNone);
  /// Something to be copied: one line, however long.
  void command(std::size_t indent, std::string_view text, Paint paint = Paint::kNone);
  /// One line, cut to the width, and at the first end of a line.
  void line(std::string_view text, Paint paint = Paint::kNone);
  void blank();

  std::size_t width() const { return width_; }
  std::string take() { return std::move(text_); }

 private:
  void put(std::string_view line, Paint paint);

  std::size_t width_;
  Colour colour_;
  std::string text_;
};

inline constexpr std::size_t kLabelWidth = 12;  // of paragraph()

}  // namespace fiel
