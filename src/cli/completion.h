// What a shell may complete after `fiel`, as a script for it: made from the command line's own description, so that it knows every
// command and option there is.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fiel {

enum class Shell { kBash, kZsh, kFish };

std::string completion_script(const CLI::App& app, Shell shell);

}  // namespace fiel
