#include "model/xml_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fiel {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kMostAttributes = 1000;

std::unexpected<Error> bad(std::string message) { return fail(ErrorKind::kContract, std::move(message)); }

std::string unescaped(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto* const found = std::ranges::find_if(kEntities, [&](const auto& entity) { return text.substr(i).starts_with(entity.first); });
    result += found == kEntities.end() ? text[i] : found->second;
    i += found == kEntities.end() ? 1 : found->first.size();
  }
  return result;
}

}  // namespace

std::string XmlTag::value(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? std::string() : found->second;
}

bool XmlTags::skip_to(std::string_view end) {
  const auto at = rest_.find(end);
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  return at != std::string_view::npos;
}

void XmlTags::skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

Result<> XmlTags::read_attributes(XmlTag& tag) {
  for (;;) {
    skip_blanks();
    if (rest_.starts_with("/>") && !tag.is_end) {
      tag.is_empty = true;
      rest_.remove_prefix(2);
      return {};
    }
    if (rest_.starts_with('>')) {
      rest_.remove_prefix(1);
      return {};
    }
    const auto equals = rest_.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 >= rest_.size() || tag.attributes.size() >= kMostAttributes) {
      return bad(fmt::format("<{}> does not end", tag.name));
    }
    const char quote = rest_[equals + 1];
    const auto end = rest_.find(quote, equals + 2);
    if ((quote != '"' && quote != '\'') || end == std::string_view::npos) return bad(fmt::format("<{}> has an attribute without a value", tag.name));
    tag.attributes.emplace_back(rest_.substr(0, equals), unescaped(rest_.substr(equals + 2, end - equals - 2)));
    rest_.remove_prefix(end + 1);
  }
}

Result<std::optional<XmlTag>> XmlTags::next() {
  for (;;) {
    const auto begin = rest_.find('<');
    if (begin == std::string_view::npos) return std::optional<XmlTag>();
    text_ = rest_.substr(0, begin);
    rest_.remove_prefix(begin + 1);
    if (rest_.starts_with('?') || rest_.starts_with("!--")) {
      if (!skip_to(rest_.starts_with('?') ? "?>" : "-->")) return bad("a comment does not end");
      continue;
    }
    XmlTag tag;
    tag.is_end = rest_.starts_with('/');
    if (tag.is_end) rest_.remove_prefix(1);
    const auto end = std::min(rest_.find_first_of(" \t\r\n/>"), rest_.size());
    tag.name = rest_.substr(0, end);
    if (tag.name.empty() || tag.name.starts_with('!')) return bad("it has a tag without a name");
    rest_.remove_prefix(end);
    FIEL_TRY(read_attributes(tag));
    return std::optional(std::move(tag));
  }
}

}  // namespace fiel
