// HTML and SVG in which nothing from outside can become markup: text enters escaped, and only names that stand in our own
// source are tags and attributes. A model called "<script>" is shown as that.
//
// Knows nothing of runs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace fiel {

/// `text` with & < > " ' as entities; what is no UTF-8 or a control character is replaced (base/printable.h).
std::string escaped(std::string_view text);

struct Attribute {
  std::string_view name;
  std::string value;  // unescaped
};
using Attributes = std::initializer_list<Attribute>;

class Html {
 public:
  /// Markup that is ours: an embedded file, never anything that was read.
  static Html ours(std::string_view markup);

  Html& text(std::string_view text);
  Html& add(const Html& part);
  Html& open(std::string_view tag, Attributes attributes = {});
  Html& close(std::string_view tag);
  /// <tag>text</tag>
  Html& element(std::string_view tag, Attributes attributes, std::string_view text);
  Html& element(std::string_view tag, std::string_view text) { return element(tag, {}, text); }
  /// <tag>part</tag>
  Html& wrap(std::string_view tag, Attributes attributes, const Html& part);
  /// <tag/>, for SVG and for HTML's void elements.
  Html& empty(std::string_view tag, Attributes attributes);
  Html& line() { return add(ours("\n")); }

  bool is_empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

 private:
  void start(std::string_view tag, Attributes attributes);

  std::string markup_;
};

}  // namespace fiel
