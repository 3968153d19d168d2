#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "replay/replay.h"

namespace fiel {
namespace {

Json interval_json(const MeanInterval& interval) {
  return {{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}, {"confidence", 0.95}};
}

}  // namespace

std::string replay_text(const ReplaySummary& summary) {
  std::string text = fmt::format("{}: {} configurations, {} admissible, optimum {:.6g}, median {:.6g}, {} a draw\n", summary.space,
                                 summary.configurations, summary.admissible, summary.optimum, summary.median,
                                 format_duration(summary.seconds_per_draw));
  if (summary.repeated > 0) text += fmt::format("{} records of configurations that were there before are left out\n", summary.repeated);
  text += fmt::format("{}, {} repeats: score {:.3f} [{:.3f}, {:.3f}] over {} to {} (0 calculated random search, 1 the optimum at once)\n",
                      summary.strategy, summary.repeats, summary.score.mean, summary.score.low, summary.score.high,
                      format_duration(summary.start_seconds), format_duration(summary.end_seconds));
  text += "evaluations  mean regret  [95 % interval]        p95\n";
  for (const RegretAt& regret : summary.regrets) {
    text += fmt::format("{:>11}  {:>10.3f}%  [{:.3f}, {:.3f}]{:>12.3f}%\n", regret.evaluations, 100 * regret.relative.mean,
                        100 * regret.relative.low, 100 * regret.relative.high, 100 * regret.p95);
  }
  text += fmt::format("{:.1f} failed or rejected trials a repeat, {:.3f} ms of the strategy's own a trial\n", summary.failures_per_repeat,
                      summary.proposal_ms);
  return text;
}

Json replay_json(const ReplaySummary& summary) {
  Json regrets = Json::array();
  for (const RegretAt& regret : summary.regrets) {
    regrets.push_back({{"evaluations", regret.evaluations}, {"regret", interval_json(regret.relative)}, {"p95", regret.p95}});
  }
  return {{"format", 1},
          {"space", summary.space},
          {"strategy", summary.strategy},
          {"configurations", summary.configurations},
          {"admissible", summary.admissible},
          {"repeated_records", summary.repeated},
          {"optimum", summary.optimum},
          {"median", summary.median},
          {"seconds_per_draw", summary.seconds_per_draw},
          {"start_seconds", summary.start_seconds},
          {"end_seconds", summary.end_seconds},
          {"repeats", summary.repeats},
          {"score", interval_json(summary.score)},
          {"scores", summary.scores},
          {"regrets", regrets},
          {"failures_per_repeat", summary.failures_per_repeat},
          {"proposal_ms", summary.proposal_ms}};
}

Json recording_json(const Recording& recording) {
  Json engines = Json::array();
  for (const EngineSpace& engine : recording.space.engines()) {
    Json knobs = Json::array();
    for (const Knob& knob : engine.knobs) knobs.push_back({{"name", knob.name}, {"values", knob.values}, {"default", knob.default_value}});
    engines.push_back({{"engine", engine.engine}, {"knobs", knobs}});
  }
  Json records = Json::array();
  for (const auto& [route, recorded] : recording.records) {
    records.push_back({{"engine", route.engine},
                       {"settings", route.settings},
                       {"outcome", to_string(recorded.outcome)},
                       {"value", recorded.value ? Json(*recorded.value) : Json(nullptr)},
                       {"seconds", recorded.seconds()}});
  }
  return {{"format", 1},
          {"space", recording.name},
          {"engines", engines},
          {"default", recording.default_route ? Json(to_string(*recording.default_route)) : Json(nullptr)},
          {"records", records}};
}

}  // namespace fiel
