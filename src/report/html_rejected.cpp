// What is out, and why. The fast but wrong ones first: they are what a tuner that looks at time alone would have shipped.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/html_parts.h"
#include "report/ranking.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr std::size_t kRowsShown = 12;  // the table of candidates has the rest

std::vector<const CandidateView*> fast_but_wrong(const RunView& view) {
  std::vector<const CandidateView*> wrong;
  for (const CandidateView* candidate : ranked(view)) {
    const auto shown = ratio_of(view, *candidate);
    if (candidate->status == "inadmissible" && shown && shown->ratio > 1) wrong.push_back(candidate);
  }
  return wrong;
}

void add_rows(Html& html, const RunView& view, const std::vector<const CandidateView*>& rows) {
  html.open("tbody");
  for (std::size_t i = 0; i < std::min(rows.size(), kRowsShown); ++i) {
    const CandidateView& candidate = *rows[i];
    html.open("tr", {{"class", "inadmissible"}}).wrap("th", {{"scope", "row"}}, candidate_link(candidate.id));
    const auto shown = ratio_of(view, candidate);
    html.open("td", {{"class", "number"}}).element("del", shown ? format_ratio(shown->ratio) : "–").close("td");
    add_cell(html, kText, std::string(kind_words(candidate.kind)));
    add_cell(html, kWords, one_line(candidate.reason));
    html.open("td", {{"class", "words"}}).element("code", candidate.route).close("td").close("tr").line();
  }
  html.close("tbody");
}

Html nearest_misses(const RunView& view) {
  Html html;
  if (view.nearest_misses.empty()) return html;
  html = start_table("Nearest misses of the accuracy contract", {{"candidate", ""}, {"over the margin by", "number"}, {"reason", "words"},
                                                                {"route", "words"}});
  html.open("tbody");
  for (const NearestMiss& miss : view.nearest_misses) {
    html.open("tr").wrap("th", {{"scope", "row"}}, candidate_link(miss.id));
    add_cell(html, kNumber, miss.margin_left < 0 ? format_share(-miss.margin_left) : "–");
    add_cell(html, kWords, miss.reason);
    html.open("td", {{"class", "words"}}).element("code", miss.route).close("td").close("tr").line();
  }
  html.close("tbody");
  end_table(html);
  return html;
}

Html groups_table(const RunView& view) {
  Html html = start_table("Everything that is not admissible, by reason",
                          {{"candidates", "number"}, {"what became of them", ""}, {"for example", "words"}});
  html.open("tbody");
  for (const auto& [kind, group] : groups_of(view)) {
    html.open("tr");
    add_cell(html, kNumber, format_count(static_cast<std::int64_t>(group.size())));
    html.element("th", {{"scope", "row"}}, group_words(kind, group));
    html.open("td", {{"class", "words"}}).add(candidate_link(group.front()->id)).text(" " + one_line(group.front()->reason)).close("td").close("tr").line();
  }
  html.close("tbody");
  end_table(html);
  return html;
}

}  // namespace

Html rejected_part(const RunView& view) {
  Html html;
  if (view.candidates.empty()) return html;
  html.element("p", counts_words(view) + ".");
  if (const auto wrong = fast_but_wrong(view); !wrong.empty()) {
    html.add(start_table(fmt::format("Faster than {}, but outside the contract: out of the comparison", comparator_words(view)),
                         {{"candidate", ""}, {"times as fast", "number"}, {"why", ""}, {"in figures", "words"}, {"route", "words"}}));
    add_rows(html, view, wrong);
    end_table(html);
    if (wrong.size() > kRowsShown) {
      html.element("p", fmt::format("… and {} more, in the table of all candidates.", wrong.size() - kRowsShown));
    }
  }
  html.add(nearest_misses(view));
  if (!groups_of(view).empty()) html.add(groups_table(view));
  return html;
}

}  // namespace fiel
