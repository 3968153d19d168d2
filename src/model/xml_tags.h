// The tags of a machine-written XML file, one after the other: elements, attributes, text. Knows no documents, namespaces or
// entities of its own; what is no such XML is an error. Private to model/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fiel {

struct XmlTag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool is_end = false;    // </name>
  bool is_empty = false;  // <name/>

  std::string value(std::string_view attribute) const;  // empty where there is none
};

class XmlTags {
 public:
  explicit XmlTags(std::string_view xml) : rest_(xml) {}

  /// The next one; nothing at the end. Comments and <?…?> are skipped.
  Result<std::optional<XmlTag>> next();
  /// What stands between the last tag and the one before, as it is written.
  std::string_view text() const { return text_; }

 private:
  Result<> read_attributes(XmlTag& tag);
  bool skip_to(std::string_view end);
  void skip_blanks();

  std::string_view rest_, text_;
};

}  // namespace fiel
