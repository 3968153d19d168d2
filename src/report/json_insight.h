// What the result document says beyond each candidate: the Pareto set, what mattered, and what may be left.
#pragma once

#include "base/json.h"
#include "report/view.h"

namespace fiel {

Json pareto_json(const RunView& view);
Json what_mattered_json(const RunView& view);
Json quality_json(const RunView& view);  // null while the search goes on

}  // namespace fiel
