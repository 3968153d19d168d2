// Accuracy, task by task and slice by slice, against what the contract allows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/fields.h"
#include "report/html_parts.h"

namespace fiel {
namespace {

// The picture beside the figures, in shares of the margin: from a gain of half the margin to a loss of one and a half.
constexpr double kLowShare = -0.5, kHighShare = 1.5;
constexpr double kPictureWidth = 160;

double picture_x(double share) {
  return kPictureWidth * (std::clamp(share, kLowShare, kHighShare) - kLowShare) / (kHighShare - kLowShare);
}

std::string place(double share) { return fmt::format("{:.1f}", picture_x(share)); }

// A dot for the estimate, a line to the worst that the interval allows, and the margin that it must not cross.
Html margin_picture(const Json& task) {
  const auto drop = fields::number(task, "drop"), margin = fields::number(task, "margin");
  Html html;
  if (!drop || !margin || !(*margin > 0)) return html;
  const double share = *drop / *margin;
  const double worst = fields::number(task, "drop_upper").value_or(*drop) / *margin;
  const double best = fields::number(task, "drop_lower").value_or(*drop) / *margin;
  html.open("svg", {{"class", "margin"}, {"viewBox", fmt::format("0 0 {} 18", kPictureWidth)}, {"aria-hidden", "true"}});
  html.empty("path", {{"class", "rule"}, {"d", fmt::format("M{} 1V17", place(0))}});
  html.empty("path", {{"class", "limit"}, {"d", fmt::format("M{} 0V18", place(1))}});
  const char* css = worst <= 1 ? "good" : "bad";
  html.empty("path", {{"class", fmt::format("line {}", css)}, {"d", fmt::format("M{} 9H{}", place(best), place(worst))}});
  html.empty("circle", {{"class", fmt::format("mark {}", css)}, {"cx", place(share)}, {"cy", "9"}, {"r", "4"}});
  return html.close("svg");
}

void add_task_row(Html& html, const Json& task) {
  const std::string slice = fields::text(task, "slice");
  html.open("tr").element("th", {{"scope", "row"}}, fields::text(task, "task"));
  add_cell(html, kText, slice.empty() ? "all" : slice);
  add_cell(html, kNumber, figure_of(task, "n", 0));
  for (const char* key : {"reference_score", "candidate_score", "drop", "drop_upper", "margin"}) {
    add_cell(html, kNumber, figure_of(task, key));
  }
  html.wrap("td", {}, margin_picture(task));
  std::string word = fields::text(task, "status");
  if (task.contains("min_score")) {
    word += fmt::format("; floor {}", figure_of(task, "min_score"));
    if (task.contains("score_bound")) word += fmt::format(", bound {}", figure_of(task, "score_bound"));
  }
  if (const auto needed = fields::integer(task, "n_needed")) word += fmt::format("; {} samples would decide", *needed);
  html.element("td", {{"class", "status " + fields::text(task, "status")}}, word).close("tr").line();
}

void add_tensor_row(Html& html, const Json& tensor) {
  html.open("tr").element("th", {{"scope", "row"}}, fields::text(tensor, "output"));
  add_cell(html, kText, fields::text(tensor, "metric"));
  add_cell(html, kNumber, figure_of(tensor, "worst", 6));
  add_cell(html, kText, fields::text(tensor, "worst_sample"));
  add_cell(html, kText, fields::text(tensor, "bound"));
  std::string word = fields::text(tensor, "status");
  if (const std::string mistrusted = fields::text(tensor, "mistrusted"); !mistrusted.empty()) word += "; mistrusted: " + mistrusted;
  html.element("td", {{"class", "status " + fields::text(tensor, "status")}}, word).close("tr").line();
}

// Those whose accuracy a reader asks for: what ships, and whoever was tried on the hold-out; before that the comparator.
std::vector<const CandidateView*> shown(const RunView& view) {
  std::vector<const CandidateView*> all;
  const auto add = [&](std::optional<int> id) {
    const CandidateView* candidate = view.find(id);
    if (candidate != nullptr && std::ranges::find(all, candidate) == all.end()) all.push_back(candidate);
  };
  add(view.ships);
  for (const NomineeView& nominee : view.nominees) {
    if (!nominee.holdout.empty()) add(nominee.id);
  }
  if (all.empty()) add(view.comparator);
  return all;
}

}  // namespace

Html gate_tables(const Json& gate, std::string_view caption) {
  Html html;
  const Json& tasks = fields::member(gate, "tasks");
  if (tasks.is_array() && !tasks.empty()) {
    html.add(start_table(caption, {{"task", ""}, {"slice", ""}, {"n", "number"}, {"reference", "number"}, {"candidate", "number"},
                                   {"lost", "number"}, {"at most", "number"}, {"allowed", "number"}, {"0 to allowed", ""},
                                   {"result", ""}}));
    html.open("tbody");
    for (const Json& task : tasks) add_task_row(html, task);
    html.close("tbody");
    end_table(html);
  }
  const Json& tensors = fields::member(gate, "tensors");
  if (tensors.is_array() && !tensors.empty()) {
    html.add(start_table(fmt::format("{}: tensors", caption), {{"output", ""}, {"metric", ""}, {"worst", "number"},
                                                              {"in sample", ""}, {"bound", ""}, {"result", ""}}));
    html.open("tbody");
    for (const Json& tensor : tensors) add_tensor_row(html, tensor);
    html.close("tbody");
    end_table(html);
  }
  return html;
}

Html accuracy_part(const RunView& view) {
  Html html;
  for (const CandidateView* candidate : shown(view)) {
    const Json holdout = fields::parsed(candidate->gate_holdout_json), tuning = fields::parsed(candidate->gate_tuning_json);
    const std::string name = fmt::format("#{} {}", candidate->id, candidate->id == view.ships ? "(ships)" : "(not shipped)");
    html.add(gate_tables(holdout, fmt::format("{} on the hold-out, opened for it once", name)));
    const Html before = gate_tables(tuning, fmt::format("{} on tuning data: point estimates, which gate and prove nothing", name));
    if (before.is_empty()) continue;
    if (holdout.is_null()) {
      html.add(before);
    } else {
      html.open("details").element("summary", fmt::format("The same on tuning data, {}", name)).add(before).close("details");
    }
  }
  if (html.is_empty()) return html;
  html.element("p", {{"class", "note"}},
               "lost: reference minus candidate, above 0 is worse. at most: the upper bound of the interval; where there is none, "
               "nothing is claimed about other data. In the picture the dot is the estimate, the line ends at that bound, and the "
               "strong stroke is what the contract allows.");
  return html;
}

}  // namespace fiel
