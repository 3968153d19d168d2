// toml++ as all of fiel includes it, and the one call that parses a text. The library throws, and asserts what it takes for
// granted of a text, which some texts break ("[" alone on a line): both come out as errors. Only for .cpp files.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {
struct TomlAssertion {};
[[noreturn]] inline void toml_assertion_failed() { throw TomlAssertion(); }
}  // namespace fiel

#define TOML_ASSERT(expression) ((expression) ? void() : ::fiel::toml_assertion_failed())
#include <toml++/toml.h>

namespace fiel {

/// kContract: "<file>:<line>: not TOML: <what toml++ says>".
inline Result<toml::table> parse_toml_text(std::string_view text, std::string_view file) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::kContract, fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line, error.description()));
  } catch (const TomlAssertion&) {
    return fail(ErrorKind::kContract, fmt::format("{}: not TOML: something is cut off in it", file),
                "look for a line that is only \"[\", or a key without its \"= value\"");
  }
}

}  // namespace fiel
