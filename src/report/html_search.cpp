// The search over time, where the time went, and when it pays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/fields.h"
#include "report/html_dots.h"
#include "report/html_parts.h"
#include "report/phases.h"
#include "report/sentences.h"
#include "report/words.h"

namespace fiel {
namespace {

std::vector<const CandidateView*> in_order_of_time(const RunView& view) {
  std::vector<const CandidateView*> tried;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.tried_at_seconds && candidate.screen_ratio && std::isfinite(*candidate.screen_ratio)) tried.push_back(&candidate);
  }
  std::ranges::stable_sort(tried, {}, [](const CandidateView* candidate) { return *candidate->tried_at_seconds; });
  return tried;
}

// What was judged wrong later never was the best, so it doesn't lift the line.
bool may_win(const CandidateView& candidate) {
  return candidate.status == "admissible" || candidate.status == "undecided" || candidate.status == "pruned";
}

Html progress_chart(const RunView& view) {
  const auto tried = in_order_of_time(view);
  if (tried.empty()) return {};
  std::vector<double> ratios = {1};
  std::vector<Point> best;
  std::vector<Dot> dots;
  double best_ratio = 1;
  for (const CandidateView* candidate : tried) {
    const double minutes = *candidate->tried_at_seconds / 60, ratio = *candidate->screen_ratio;
    ratios.push_back(ratio);
    dots.push_back({candidate, {minutes, ratio},
                    fmt::format("#{}: {} times as fast at first sight, {}", candidate->id, format_ratio(ratio), candidate->status)});
    if (best.empty()) best.push_back({0, 1});
    if (!may_win(*candidate) || !(ratio > best_ratio)) continue;
    best.push_back({minutes, best_ratio});
    best.push_back({minutes, ratio});
    best_ratio = ratio;
  }
  const double end = view.budget.spent_seconds / 60;
  best.push_back({end, best_ratio});
  Chart chart({"The search over time",
               fmt::format("{} candidates were timed; the best at first sight ran {} times as fast as {}", tried.size(),
                           format_ratio(best_ratio), comparator_words(view))},
              {"working time of the run, min", 0, std::max(end * 1.02, 1e-6)}, axis_over("times as fast, at first sight", ratios));
  chart.rule_across(1, "dim", "the comparator");
  chart.rule_up(tried.back()->tried_at_seconds.value() / 60, "dim", view.budget.stop_reason.empty() ? "so far" : "search ended");
  chart.path(best, "pareto");
  add_dots(chart, view, dots);
  return figure(chart, legend_of_dots(),
                "One mark a candidate, when it was first timed: a single session, which orders the queue and claims nothing. The line is "
                "the best so far of those that were not found wrong. After the search come race, proof and estimate.");
}

Html phases_table(const RunView& view) {
  Html html;
  if (view.budget.phases.empty()) return html;
  html = start_table("Where the time went", {{"phase", ""}, {"time", "number"}, {"share", "number"}, {"", "wide"}});
  html.open("tbody");
  std::vector<PhaseTime> phases = view.budget.phases;
  std::ranges::stable_sort(phases, [](const PhaseTime& a, const PhaseTime& b) { return a.seconds > b.seconds; });
  const double all = std::max(view.budget.spent_seconds, 1e-9);
  for (const PhaseTime& phase : phases) {
    html.open("tr").element("th", {{"scope", "row"}}, phase_words(phase.name));
    add_cell(html, kNumber, format_duration(phase.seconds));
    add_cell(html, kNumber, format_share(phase.seconds / all));
    html.wrap("td", {}, share_bar(phase.seconds / phases.front().seconds)).close("tr").line();
  }
  html.close("tbody");
  end_table(html);
  return html;
}

}  // namespace

Html search_part(const RunView& view) {
  Html html, charts = progress_chart(view);
  const Json run = fields::parsed(view.run_json);
  const std::string strategy = fields::text(run, "strategy");
  html.element("p", fmt::format("{}{}.", strategy.empty() ? "" : fmt::format("Strategy {}; ", strategy), spent_words(view)));
  if (view.break_even) html.element("p", fmt::format("Pays off {}.", break_even_words(view)));
  charts.add(phases_table(view));
  return html.wrap("div", {{"class", "charts"}}, charts);
}

}  // namespace fiel
