// The result for people: the verdict in words first, then what it rests on. Never a bare number: each has its unit, its
// n and what it is compared with.
#pragma once

#include <string>

#include "report/view.h"

namespace fiel {

struct TextOptions {
  int width = 80;      // characters
  bool color = false;
  bool all = false;    // every candidate with its reason, instead of the best and a summary
};

std::string format_text(const RunView& view, const TextOptions& options);

}  // namespace fiel
