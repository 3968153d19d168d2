// The result as one page for people who have to be convinced: self-contained HTML without any address in it, charts as plain
// SVG, readable without script, in print, in the dark and by a screen reader. Everything on it stands in the view or in its
// JSON document (json.h): no figure is worked out here.
#pragma once

#include <string>

#include "report/view.h"

namespace fiel {

/// What the page of 2,000 candidates has to stay below; evidence gets shorter where it would not.
inline constexpr std::size_t kMostPageBytes = std::size_t{2} << 20;

std::string format_html(const RunView& view);

}  // namespace fiel
