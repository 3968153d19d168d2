// toml++ as all of fiel includes it. The library asserts what it takes for granted of a text, and some texts break it ("[" alone
// on a line): nothing to die of, so it throws. Only for .cpp files.
#pragma once

namespace fiel {
struct TomlAssertion {};
[[noreturn]] inline void toml_assertion_failed() { throw TomlAssertion(); }
}  // namespace fiel

#define TOML_ASSERT(expression) ((expression) ? void() : ::fiel::toml_assertion_failed())
#include <toml++/toml.h>
