// Latency against what it is paid with: accuracy and memory. Latency is the comparator's divided by the candidate's paired
// ratio, since latencies of two sessions differ by what else happened then.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/fields.h"
#include "report/html_dots.h"
#include "report/html_parts.h"
#include "report/ranking.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr double kSlowest = 2;             // of the comparator's latency; slower ones stand at the edge
constexpr double kWorstMargin = -100;      // percent; worse ones stand at the edge

std::optional<double> latency_ms(const RunView& view, const CandidateView& candidate, double comparator_seconds) {
  if (candidate.id == view.comparator) return 1e3 * comparator_seconds;
  const auto shown = ratio_of(view, candidate);
  return shown && shown->ratio > 0 ? std::optional(1e3 * comparator_seconds / shown->ratio) : std::nullopt;
}

// Offline and by throughput: the time that one sample costs.
std::optional<double> comparator_seconds(const RunView& view) {
  const CandidateView* comparator = view.find(view.comparator);
  if (comparator == nullptr || !comparator->latency) return std::nullopt;
  if (!by_throughput(view)) return comparator->latency->p50_seconds;
  return comparator->latency->per_second > 0 ? std::optional(1 / comparator->latency->per_second) : std::nullopt;
}

template <class Value>
std::vector<Dot> dots_of(const RunView& view, double comparator, Value value) {
  std::vector<Dot> dots;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.status == "duplicate") continue;
    const auto x = latency_ms(view, candidate, comparator);
    const auto y = value(candidate);
    if (x && y && std::isfinite(*x) && std::isfinite(*y)) {
      dots.push_back({&candidate, {*x, *y}, fmt::format("#{}: {}, {}", id, format_duration(*x / 1e3), marks_of(view, candidate))});
    }
  }
  return dots;
}

enum class Better { kMore, kLess };

// Those of the admissible that no other one beats in both.
std::vector<Point> pareto_corners(const std::vector<Dot>& dots, Better better) {
  std::vector<Point> line;
  std::vector<const Dot*> in_order;
  for (const Dot& dot : dots) {
    if (dot.candidate->status == "admissible") in_order.push_back(&dot);
  }
  std::ranges::sort(in_order, [&](const Dot* a, const Dot* b) {
    return a->at.x != b->at.x ? a->at.x < b->at.x : better == Better::kMore ? a->at.y > b->at.y : a->at.y < b->at.y;
  });
  for (const Dot* dot : in_order) {
    const bool beats = line.empty() || (better == Better::kMore ? dot->at.y > line.back().y : dot->at.y < line.back().y);
    if (!beats) continue;
    if (!line.empty()) line.push_back({dot->at.x, line.back().y});
    line.push_back(dot->at);
  }
  return line;
}

Axis latency_axis(const RunView& view, const std::vector<Dot>& dots, double comparator) {
  std::vector<double> values;
  for (const Dot& dot : dots) values.push_back(std::min(dot.at.x, kSlowest * 1e3 * comparator));
  return axis_over(by_throughput(view) ? "time per sample, ms" : "latency p50, ms", values);
}

Html accuracy_figure(const RunView& view, double comparator) {
  const auto dots = dots_of(view, comparator, [](const CandidateView& candidate) {
    return candidate.margin_left ? std::optional(100 * *candidate.margin_left) : std::nullopt;
  });
  if (dots.empty()) return {};
  std::vector<double> values = {0};
  for (const Dot& dot : dots) values.push_back(std::max(dot.at.y, kWorstMargin));
  Chart chart({"Latency against accuracy", fmt::format("{} candidates; up and to the left is better", dots.size())},
              latency_axis(view, dots, comparator), axis_over("accuracy margin left, %", values));
  chart.rule_across(0, "limit", "the contract");
  chart.path(pareto_corners(dots, Better::kMore), "pareto");
  add_dots(chart, view, dots);
  return figure(chart, legend_of_dots(),
                fmt::format("Up and to the left is better; the stepped line joins the admissible ones that no other one beats in "
                            "both. Accuracy: the share of the margin that is left, by point estimates on {} tuning samples, for "
                            "those that were judged; worse than {:.0f} % stands at the edge.", view.tuning_samples, kWorstMargin));
}

Html memory_figure(const RunView& view, double comparator) {
  const auto dots = dots_of(view, comparator, [](const CandidateView& candidate) {
    return candidate.peak_memory_bytes ? std::optional(static_cast<double>(*candidate.peak_memory_bytes) / (1 << 20)) : std::nullopt;
  });
  if (dots.empty()) return {};
  std::vector<double> values;
  for (const Dot& dot : dots) values.push_back(dot.at.y);
  Chart chart({"Latency against memory", fmt::format("{} candidates; down and to the left is better", dots.size())},
              latency_axis(view, dots, comparator), axis_over("peak memory, MiB", values));
  chart.path(pareto_corners(dots, Better::kLess), "pareto");
  add_dots(chart, view, dots);
  return figure(chart, legend_of_dots(), "Down and to the left is better. Memory: the peak of a process that loads the artifact and runs it.");
}

// Of speed, memory and accuracy together, which no picture has: as the document lists them.
Html pareto_table(const Json& pareto) {
  Html html;
  const Json& points = fields::member(pareto, "points");
  if (!points.is_array() || points.size() < 2) return html;
  html = start_table(fmt::format("No other admissible candidate is at least as good in speed, memory and accuracy together ({} of {}, by "
                                 "point estimates)", points.size(), figure_of(pareto, "compared", 0)),
                     {{"candidate", ""}, {"times as fast", "number"}, {"sessions", "number"}, {"peak memory", "number"}, {"margin left", "number"}});
  html.open("tbody");
  for (const Json& point : points) {
    const auto bytes = fields::integer(point, "peak_memory_bytes");
    const auto margin = fields::number(point, "margin_left");
    html.open("tr").wrap("th", {{"scope", "row"}}, candidate_link(static_cast<int>(fields::integer(point, "id").value_or(0))));
    for (const std::string& text : {figure_of(point, "ratio", 3), figure_of(point, "sessions", 0), bytes ? format_bytes(*bytes) : "–",
                                    margin ? format_share(*margin) : "–"}) {
      html.element("td", {{"class", "number"}}, text);
    }
    html.close("tr").line();
  }
  html.close("tbody");
  end_table(html);
  return html;
}

}  // namespace

Html tradeoff_part(const RunView& view, const Json& document) {
  Html html;
  const auto comparator = comparator_seconds(view);
  if (!comparator) return html;
  html.add(accuracy_figure(view, *comparator)).add(memory_figure(view, *comparator));
  if (html.is_empty()) return html;
  Html part;
  part.wrap("div", {{"class", "charts"}}, html);
  part.element("p", {{"class", "note"}},
                      fmt::format("Latency is that of {}, divided by how many times as fast the candidate ran beside it: latencies of "
                                  "different sessions can't be held side by side. Slower than {:.0f} times that stands at the edge.",
                                  comparator_words(view), kSlowest));
  return part.add(pareto_table(fields::member(document, "pareto")));
}

}  // namespace fiel
