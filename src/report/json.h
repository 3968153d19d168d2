// The result as one JSON document (docs/result.md): what `show --json` prints and what a bundle keeps as its evidence.
#pragma once

#include <vector>

#include "base/json.h"
#include "report/view.h"

namespace fiel {

Json format_json(const RunView& view);
/// [{"name", "dtype", "shape"}]; -1: any size.
Json ports_json(const std::vector<Port>& ports);

}  // namespace fiel
