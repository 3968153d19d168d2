// Which knobs mattered, and what share of the space may still hold something better: as the document says it, where it does.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/chart.h"
#include "report/fields.h"
#include "report/html_parts.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr double kSmallestShown = 0.005;  // of the variance: "0 %" would say nothing

std::string levels_words(const Json& knob) {
  std::string words;
  for (const Json& level : fields::member(knob, "levels")) {
    words += fmt::format("{}{} {}x", words.empty() ? "" : ", ", fields::text(level, "value"),
                         format_ratio(fields::number(level, "ratio").value_or(1)));
    if (fields::integer(level, "admissible") == 0) words += " (none admissible)";
  }
  return words;
}

void add_row(Html& html, std::string_view name, double share, std::string_view levels) {
  html.open("tr").element("th", {{"scope", "row"}}, name);
  add_cell(html, kNumber, format_share(share));
  html.wrap("td", {}, share_bar(share));
  add_cell(html, kWords, levels);
  html.close("tr").line();
}

Html table_of(const Json& mattered) {
  const std::string engine = fields::text(mattered, "engine");
  if (const std::string why = fields::text(mattered, "too_little"); !why.empty()) {
    return Html().element("p", fmt::format("What mattered on {}: not known; {}.", engine, why));
  }
  Html html = start_table(fmt::format("{}: shares of the variance of log latency, by a model fitted to {} timed candidates", engine,
                                      figure_of(mattered, "candidates", 0)),
                          {{"knob", ""}, {"share", "number"}, {"", "wide"}, {"times as fast, on average over the settings beside it", "words"}});
  html.open("tbody");
  std::string others;
  for (const Json& knob : fields::member(mattered, "knobs")) {
    const double share = fields::number(knob, "share").value_or(0);
    if (share < kSmallestShown) {
      others += (others.empty() ? "" : ", ") + fields::text(knob, "knob");
    } else {
      add_row(html, fields::text(knob, "knob"), share, levels_words(knob));
    }
  }
  for (const Json& pair : fields::member(mattered, "pairs")) {
    std::string names;
    for (const std::string& name : fields::texts(pair, "knobs")) names += (names.empty() ? "" : " with ") + name;
    add_row(html, names, fields::number(pair, "share").value_or(0), "beyond what each does alone");
  }
  html.close("tbody");
  end_table(html);
  if (!others.empty()) html.element("p", {{"class", "note"}}, "Below half a percent each: " + others + ".");
  if (const auto unexplained = fields::number(mattered, "unexplained")) {
    html.element("p", {{"class", "note"}},
                 fmt::format("Of candidates that it had not seen, the model leaves {} unexplained. Accuracy plays no part here.",
                             format_share(*unexplained)));
  }
  std::string copy;
  for (const Json& setting : fields::member(mattered, "to_copy")) {
    copy += fmt::format("{}{}={} ({}x)", copy.empty() ? "" : ", ", fields::text(setting, "knob"), fields::text(setting, "value"),
                        format_ratio(fields::number(setting, "ratio").value_or(1)));
  }
  if (!copy.empty()) html.element("p", fmt::format("To try first on the next model: {}.", copy));
  return html;
}

}  // namespace

Html knobs_part(const Json& document) {
  Html html;
  for (const Json& mattered : fields::member(document, "what_mattered")) html.add(table_of(mattered));
  const std::string quality = fields::text(fields::member(document, "quality"), "sentence");
  if (!quality.empty()) html.element("p", capitalised(quality) + (quality.ends_with('.') ? "" : "."));
  return html;
}

}  // namespace fiel
