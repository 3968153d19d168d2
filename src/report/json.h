// The result as one JSON document (docs/result.md): what `show --json` prints and what a bundle keeps as its evidence.
#pragma once

#include "base/json.h"
#include "report/view.h"

namespace fiel {

Json format_json(const RunView& view);

}  // namespace fiel
