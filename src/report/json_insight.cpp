#include "report/json_insight.h"

#include <nlohmann/json.hpp>

#include "report/pareto.h"
#include "report/quality.h"
#include "report/what_mattered.h"

namespace fiel {
namespace {

Json knob_json(const KnobEffect& knob) {
  Json levels = Json::array();
  for (const LevelEffect& level : knob.levels) {
    levels.push_back({{"value", level.value}, {"ratio", level.ratio}, {"candidates", level.candidates}, {"admissible", level.admissible}});
  }
  return {{"knob", knob.knob}, {"share", knob.share}, {"reference", knob.reference}, {"levels", levels}};
}

Json mattered_json(const WhatMattered& mattered) {
  const bool is_known = mattered.too_little.empty();
  Json json = {{"engine", mattered.engine},
               {"candidates", mattered.candidates},
               {"too_little", is_known ? Json(nullptr) : Json(mattered.too_little)},
               {"unexplained", is_known ? Json(mattered.unexplained) : Json(nullptr)}};
  json["knobs"] = Json::array();
  for (const KnobEffect& knob : mattered.knobs) json["knobs"].push_back(knob_json(knob));
  json["pairs"] = Json::array();
  for (const PairEffect& pair : mattered.pairs) json["pairs"].push_back({{"knobs", {pair.first, pair.second}}, {"share", pair.share}});
  json["to_copy"] = Json::array();
  for (const Setting& setting : mattered.to_copy) {
    json["to_copy"].push_back({{"knob", setting.knob}, {"value", setting.value}, {"ratio", setting.ratio}});
  }
  return json;
}

}  // namespace

Json pareto_json(const RunView& view) {
  const ParetoSet set = pareto_set(view);
  Json json = {{"axes", set.axes}, {"compared", set.compared}, {"left_out", set.left_out}, {"points", Json::array()}};
  for (const ParetoPoint& point : set.points) {
    json["points"].push_back({{"id", point.id},
                              {"ratio", point.ratio},
                              {"sessions", point.sessions},
                              {"peak_memory_bytes", or_null(point.peak_memory_bytes)},
                              {"margin_left", or_null(point.margin_left)}});
  }
  return json;
}

Json what_mattered_json(const RunView& view) {
  Json json = Json::array();
  for (const WhatMattered& mattered : what_mattered(view)) json.push_back(mattered_json(mattered));
  return json;
}

Json quality_json(const RunView& view) {
  const auto quality = quality_statement(view);
  if (!quality) return nullptr;
  return {{"sentence", quality->sentence},
          {"best", or_null(quality->best)},
          {"draws", quality->draws},
          {"may_be_better", quality->may_be_better},
          {"left_at_most", or_null(quality->left_at_most)},
          {"confidence", quality->confidence}};
}

}  // namespace fiel
