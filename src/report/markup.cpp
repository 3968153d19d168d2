#include "report/markup.h"

#include "base/printable.h"

namespace fiel {

std::string escaped(std::string_view text) {
  std::string markup;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': markup += "&amp;"; break;
      case '<': markup += "&lt;"; break;
      case '>': markup += "&gt;"; break;
      case '"': markup += "&quot;"; break;
      case '\'': markup += "&#39;"; break;
      default: markup += c;
    }
  }
  return markup;
}

Html Html::ours(std::string_view markup) {
  Html html;
  html.markup_ = markup;
  return html;
}

void Html::start(std::string_view tag, Attributes attributes) {
  markup_ += '<';
  markup_ += tag;
  for (const Attribute& attribute : attributes) {
    markup_ += ' ';
    markup_ += attribute.name;
    markup_ += "=\"";
    markup_ += escaped(attribute.value);
    markup_ += '"';
  }
}

Html& Html::text(std::string_view text) {
  markup_ += escaped(text);
  return *this;
}

Html& Html::add(const Html& part) {
  markup_ += part.markup_;
  return *this;
}

Html& Html::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  markup_ += '>';
  return *this;
}

Html& Html::close(std::string_view tag) {
  markup_ += "</";
  markup_ += tag;
  markup_ += '>';
  return *this;
}

Html& Html::element(std::string_view tag, Attributes attributes, std::string_view text) {
  return open(tag, attributes).text(text).close(tag);
}

Html& Html::wrap(std::string_view tag, Attributes attributes, const Html& part) {
  return open(tag, attributes).add(part).close(tag);
}

Html& Html::empty(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  markup_ += "/>";
  return *this;
}

}  // namespace fiel
