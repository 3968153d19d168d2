#include "report/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "embedded/report_css.h"
#include "embedded/report_js.h"
#include "report/fields.h"
#include "report/html_parts.h"
#include "report/json.h"
#include "report/sentences.h"

namespace fiel {
namespace {

struct Section {
  std::string_view id;
  std::string_view heading;
  Html body;
};

std::string title_of(const RunView& view) {
  const Json run = fields::parsed(view.run_json);
  const std::filesystem::path model = fields::text(fields::member(run, "model"), "path");
  return fmt::format("{}: {}", verdict_word(view), model.filename().string());
}

// Nothing may be fetched, and no script may run but ours: its tag carries a word that nobody who names a model can know.
Html head(const RunView& view, const std::string& nonce) {
  Html html;
  html.open("head").empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", fmt::format("default-src 'none'; style-src 'nonce-{0}'; script-src 'nonce-{0}'; base-uri 'none'; "
                                              "form-action 'none'", nonce)}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.element("title", title_of(view)).line();
  return html.wrap("style", {{"nonce", nonce}}, Html::ours(embedded::report_css)).close("head").line();
}

Html contents(const std::vector<Section>& sections) {
  Html html;
  html.open("nav", {{"aria-label", "Sections"}}).open("ul");
  for (const Section& section : sections) {
    html.open("li").element("a", {{"href", fmt::format("#{}", section.id)}}, section.heading).close("li");
  }
  return html.close("ul").close("nav").line();
}

std::string page(const RunView& view, const Json& document, Evidence evidence) {
  std::vector<Section> sections;
  const auto add = [&](std::string_view id, std::string_view heading, Html body) {
    if (!body.is_empty()) sections.push_back({id, heading, std::move(body)});
  };
  add("accuracy", "Accuracy against the contract", accuracy_part(view));
  add("speed", "Speed, session by session", speed_part(view));
  add("rejected", "Rejected, and why", rejected_part(view));
  add("tradeoff", "Latency against accuracy and memory", tradeoff_part(view, document));
  add("search", "The search over time", search_part(view));
  add("knobs", "Which knobs mattered", knobs_part(document));
  add("machine", "How quiet the machine was", machine_part(view));
  add("candidates", "All candidates", candidates_part(view, evidence));
  add("ground", "What this rests on", ground_part(view));

  const std::string nonce = sha256_hex(view.run_json + std::to_string(view.candidates.size())).substr(0, 32);
  Html html = Html::ours("<!DOCTYPE html>\n");
  html.open("html", {{"lang", "en"}}).add(head(view, nonce)).open("body");
  html.element("a", {{"class", "skip"}, {"href", "#main"}}, "To the result");
  html.add(verdict_part(view)).add(contents(sections)).open("main", {{"id", "main"}});
  for (const Section& section : sections) {
    const std::string heading = fmt::format("{}-heading", section.id);
    html.open("section", {{"id", std::string(section.id)}, {"aria-labelledby", heading}});
    html.element("h2", {{"id", heading}}, section.heading).line().add(section.body).close("section").line();
  }
  html.close("main").wrap("script", {{"nonce", nonce}}, Html::ours(embedded::report_js));
  html.close("body").close("html").line();
  return html.markup();
}

}  // namespace

std::string format_html(const RunView& view) {
  const Json document = format_json(view);
  std::string text;
  for (const Evidence evidence : {Evidence::kFull, Evidence::kShort, Evidence::kBare}) {
    text = page(view, document, evidence);
    if (text.size() < kMostPageBytes) break;
  }
  return text;
}

Html start_table(std::string_view caption, const std::vector<Column>& columns, Attributes attributes) {
  Html html;
  html.open("div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", std::string(caption)}});
  html.open("table", attributes).open("caption").element("span", caption).close("caption").open("thead").open("tr");
  for (const Column& column : columns) {
    // Above pictures there is no heading, and an empty one would be read out.
    if (column.name.empty()) {
      html.element("td", {{"class", std::string(column.css)}}, "");
    } else {
      html.element("th", {{"scope", "col"}, {"class", std::string(column.css)}}, column.name);
    }
  }
  return html.close("tr").close("thead").line();
}

void end_table(Html& html) { html.close("table").close("div").line(); }

void add_fact(Html& html, std::string_view name, const Html& value) {
  html.open("div").element("dt", name).wrap("dd", {}, value).close("div").line();
}

void add_fact(Html& html, std::string_view name, std::string_view value) {
  if (!value.empty()) add_fact(html, name, Html().text(value));
}

void add_cell(Html& html, const Column& column, std::string_view text) {
  if (column.css.empty()) {
    html.element("td", text);
  } else {
    html.element("td", {{"class", std::string(column.css)}}, text);
  }
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string candidate_target(int id) { return fmt::format("c{}", id); }

Html candidate_link(int id) {
  Html html;
  return html.element("a", {{"href", "#" + candidate_target(id)}}, fmt::format("#{}", id));
}

std::string figure_of(const Json& object, std::string_view key, int digits) {
  if (const auto number = fields::number(object, key)) return fmt::format("{:.{}f}", *number, digits);
  const std::string text = fields::text(object, key);
  return text.empty() ? "–" : text;
}

}  // namespace fiel
