#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/compare.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/page.h"
#include "report/phases.h"
#include "report/words.h"

namespace fiel {
namespace {

std::string verdict_line(const RunView& view) {
  if (!view.verdict.empty()) return fmt::format("{}: {}", view.verdict, view.reason);
  return fmt::format("none yet{}{}", view.stage.empty() ? "" : "; last: ", view.stage.empty() ? "" : phase_words(view.stage));
}

std::string shipped_line(const RunView& view) {
  const CandidateView* ships = view.find(view.ships);
  return ships == nullptr ? "nothing" : fmt::format("#{} {}", ships->id, ships->route);
}

std::string speed_line(const RunView& view) {
  const CandidateView* comparator = view.find(view.comparator);
  const std::string over = comparator == nullptr ? "" : fmt::format("; that is {}", comparator->route);
  if (view.speedup) return speedup_words(view) + over;
  return "nothing proven. " + best_words(view);
}

// Of what ships: the hold-out's judgement, where there is one.
std::vector<std::string> accuracy_lines(const RunView& view) {
  const CandidateView* ships = view.find(view.ships);
  if (ships == nullptr) return {"-"};
  const bool proven = !ships->gate_holdout_json.empty();
  const Json gate = fields::parsed(proven ? ships->gate_holdout_json : ships->gate_tuning_json);
  std::vector<std::string> lines;
  for (const Json& task : fields::member(gate, "tasks")) {
    lines.push_back(fmt::format("{} ({})", task_words(task), proven ? "hold-out" : "tuning data, point estimate"));
  }
  if (lines.empty()) lines.push_back("-");
  return lines;
}

std::string time_line(const RunView& view) {
  std::string line = format_duration(view.budget.spent_seconds);
  if (view.budget.wall_seconds) line += fmt::format(" of {}", format_duration(*view.budget.wall_seconds));
  return line;
}

std::string openings_line(const RunView& view) {
  std::vector<std::string> words;
  for (const NomineeView& nominee : view.nominees) {
    if (nominee.opening) words.push_back(fmt::format("number {} for #{}", *nominee.opening, nominee.id));
  }
  return words.empty() ? "not opened" : fmt::format("{}", fmt::join(words, ", "));
}

void say_both(Page& page, std::string_view label, const std::string& first, const std::string& second) {
  page.paragraph(label, "A: " + first);
  page.paragraph(" ", "B: " + second);
}

Json side_json(const RunView& view) {
  Json all = format_json(view);
  Json json = {{"folder", view.folder.string()}, {"candidates", view.candidates.size()}, {"openings", Json::array()}};
  for (const char* key : {"verdict", "reason", "ships", "winner", "comparator", "speedup", "budget"}) json[key] = all[key];
  for (const NomineeView& nominee : view.nominees) {
    if (nominee.opening) json["openings"].push_back({{"candidate", nominee.id}, {"opening", *nominee.opening}});
  }
  const CandidateView* ships = view.find(view.ships);
  json["accuracy"] = {{"tuning", ships == nullptr ? Json() : fields::parsed(ships->gate_tuning_json)},
                      {"holdout", ships == nullptr ? Json() : fields::parsed(ships->gate_holdout_json)}};
  return json;
}

}  // namespace

std::string format_comparison(const RunSide& first, const RunSide& second, int width) {
  const Comparison comparison = compare_runs(first, second);
  Page page(width, Colour::kOff);
  page.paragraph("", comparison.comparable()
                         ? "comparable: the same question, on the same machine, by the same engines."
                         : "NOT comparable: they differ in what a verdict is bound to (marked with !).");
  page.paragraph("", "Each speed-up is relative to the run's own comparator; the two runs were not measured side by side, so no "
                     "ratio between them is given. `fiel bench` measures one route against another.");
  page.blank();
  if (comparison.differences.empty()) page.paragraph("", "Nothing that is recorded changed between them.");
  for (const Difference& one : comparison.differences) {
    page.paragraph(one.blocks ? "! differs" : "changed", fmt::format("{}: {} -> {}", one.what, one.first, one.second));
  }
  page.blank();
  const RunView &a = first.view, &b = second.view;
  say_both(page, "run", typed_path(a.folder), typed_path(b.folder));
  say_both(page, "verdict", verdict_line(a), verdict_line(b));
  say_both(page, "ships", shipped_line(a), shipped_line(b));
  say_both(page, "speed", speed_line(a), speed_line(b));
  say_both(page, "accuracy", fmt::format("{}", fmt::join(accuracy_lines(a), "\n")), fmt::format("{}", fmt::join(accuracy_lines(b), "\n")));
  say_both(page, "hold-out", openings_line(a), openings_line(b));
  say_both(page, "candidates", fmt::format("{}", a.candidates.size()), fmt::format("{}", b.candidates.size()));
  say_both(page, "time", time_line(a), time_line(b));
  return page.take();
}

Json comparison_json(const RunSide& first, const RunSide& second) {
  const Comparison comparison = compare_runs(first, second);
  Json json = {{"format", 1}, {"comparable", comparison.comparable()}, {"differences", Json::array()},
               {"runs", Json::array({side_json(first.view), side_json(second.view)})}};
  for (const Difference& one : comparison.differences) {
    json["differences"].push_back({{"what", one.what}, {"first", one.first}, {"second", one.second}, {"blocks", one.blocks}});
  }
  return json;
}

}  // namespace fiel
