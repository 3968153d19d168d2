// What the result document says beyond each candidate: the Pareto set, what mattered, and what may be left.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "report/view.h"

namespace fiel {

/// Null for what is not known.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json pareto_json(const RunView& view);
Json what_mattered_json(const RunView& view);
Json quality_json(const RunView& view);  // null while the search goes on

}  // namespace fiel
