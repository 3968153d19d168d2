// The speed-up with its interval, and every session behind it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/chart.h"
#include "report/html_parts.h"
#include "report/ranking.h"
#include "report/words.h"

namespace fiel {
namespace {

struct Session {
  std::string what;  // "deciding", "estimating"
  double ratio = 1;
  std::string counted;  // "won", "lost"; for an estimating one nothing
};

std::vector<Session> sessions_of(const RunView& view, const NomineeView& nominee) {
  std::vector<Session> sessions;
  for (const SessionResult& session : nominee.sessions) sessions.push_back({"deciding", session.ratio, session.win ? "won" : "lost"});
  if (nominee.id != view.winner || !view.speedup) return sessions;
  for (const double ratio : view.speedup->session_ratios) sessions.push_back({"estimating", ratio, "–"});
  return sessions;
}

Html chart_of(const RunView& view, const NomineeView& nominee, const std::vector<Session>& sessions) {
  std::vector<double> ratios = {1, 1 + view.min_gain};
  for (const Session& session : sessions) ratios.push_back(session.ratio);
  const bool interval = nominee.id == view.winner && view.speedup && view.speedup->low && view.speedup->high;
  Chart chart({fmt::format("Sessions of #{} against {}", nominee.id, comparator_words(view)),
               fmt::format("{} sessions, {} times as fast at the least and {} at the most", sessions.size(),
                           format_ratio(*std::ranges::min_element(ratios.begin() + 2, ratios.end())),
                           format_ratio(*std::ranges::max_element(ratios.begin() + 2, ratios.end())))},
              {"session, in the order in which they ran", 0, static_cast<double>(sessions.size()) + 1},
              axis_over("times as fast", ratios));
  if (interval) chart.band_across(*view.speedup->low, *view.speedup->high, "good");
  chart.rule_across(1, "dim", view.min_gain > 0 ? "" : "as fast");
  if (view.min_gain > 0) chart.rule_across(1 + view.min_gain, "limit", "asked for");
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Session& session = sessions[i];
    const bool deciding = session.what == "deciding";
    chart.mark({static_cast<double>(i + 1), session.ratio},
               {deciding ? Mark2D::kRing : Mark2D::kDot, session.counted == "lost" ? "bad" : "good"},
               fmt::format("session {}, {}: {} times as fast", i + 1, session.what, format_ratio(session.ratio)));
  }
  std::vector<LegendEntry> legend = {{{Mark2D::kRing, "good"}, "decided whether it is faster"}};
  if (interval) legend.push_back({{Mark2D::kDot, "good"}, "estimate by how much; decided nothing"});
  return figure(chart, legend,
                fmt::format("#{}: one mark a session of fresh processes, interleaved with {}.{}", nominee.id, comparator_words(view),
                            interval ? fmt::format(" The band is the {:.1f} % interval of the speed-up.",
                                                   100 * *view.speedup->confidence)
                                     : ""));
}

Html table_of(const NomineeView& nominee, const std::vector<Session>& sessions) {
  Html html = start_table(fmt::format("All {} sessions of #{}", sessions.size(), nominee.id),
                          {{"session", "number"}, {"times as fast", "number"}, {"what for", ""}, {"above what was asked for", ""}});
  html.open("tbody");
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    html.open("tr").element("th", {{"scope", "row"}, {"class", "number"}}, fmt::format("{}", i + 1));
    add_cell(html, kNumber, fmt::format("{:.4f}", sessions[i].ratio));
    add_cell(html, kText, sessions[i].what);
    add_cell(html, kText, sessions[i].counted);
    html.close("tr");
  }
  html.close("tbody");
  end_table(html);
  return html;
}

// The race ranked them and claims nothing; where no nominee was tried, it is all there is.
Html race_table(const RunView& view) {
  Html html;
  for (const CandidateView* candidate : ranked(view)) {
    if (candidate->race_ratios.empty()) continue;
    if (html.is_empty()) {
      html = start_table(fmt::format("The race: times as fast as {}, one figure a session; a ranking, no claim", comparator_words(view)),
                         {{"candidate", ""}, {"median", "number"}, {"sessions", "words"}, {"status", ""}});
      html.open("tbody");
    }
    html.open("tr").wrap("th", {{"scope", "row"}}, candidate_link(candidate->id));
    const auto shown = ratio_of(view, *candidate);
    add_cell(html, kNumber, shown ? format_ratio(shown->ratio) : "1");
    std::string all;
    for (const double ratio : candidate->race_ratios) all += fmt::format("{}{:.3f}", all.empty() ? "" : ", ", ratio);
    add_cell(html, kText, all);
    add_cell(html, kText, marks_of(view, *candidate));
    html.close("tr").line();
  }
  if (html.is_empty()) return html;
  html.close("tbody");
  end_table(html);
  return html;
}

}  // namespace

Html speed_part(const RunView& view) {
  Html html;
  if (view.speedup) html.element("p", {{"class", "lead"}}, speedup_words(view) + ".");
  Html charts, tables;
  for (const NomineeView& nominee : view.nominees) {
    const auto sessions = sessions_of(view, nominee);
    if (sessions.empty()) continue;
    charts.add(chart_of(view, nominee, sessions));
    tables.open("details").element("summary", fmt::format("Every session of #{}, in figures", nominee.id));
    tables.add(table_of(nominee, sessions)).close("details").line();
  }
  if (!charts.is_empty()) html.wrap("div", {{"class", "charts"}}, charts).add(tables);
  return html.add(race_table(view));
}

}  // namespace fiel
