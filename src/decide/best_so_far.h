// The fastest candidate that may still win, in a few words for a status line: with what it is relative to, the range of its
// sessions and their number. Display only: nothing is decided on it.
#pragma once

#include <string>

#include "decide/standing.h"

namespace fiel {

/// "#4: 1.82x #2 [1.79, 1.85], 3 sessions"; "#4: 1.95x #2 at first sight, 1 session"; empty where nothing was timed yet.
/// What has been judged in full goes before what was only looked at.
std::string best_so_far(const Standing& standing);

}  // namespace fiel
