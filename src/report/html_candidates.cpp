// All candidates, in a table whose rows open to each one's evidence. Rows stand in the terminal's order; the script adds sorting
// and a filter to what can be read without it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/units.h"
#include "report/fields.h"
#include "report/html_parts.h"
#include "report/ranking.h"
#include "report/sentences.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr std::size_t kColumns = 8;
constexpr std::size_t kRowsPrinted = 100;  // as the style has it
constexpr std::size_t kLogFull = 4000, kLogShort = 240;  // bytes of a process's last lines
constexpr std::size_t kReasonShort = 300, kReasonBare = 120;

// What sorting goes by, where that is not what the cell shows.
void add_sorted_cell(Html& html, const std::optional<double>& key, std::string_view text) {
  if (!key) {
    html.element("td", text);
  } else {
    html.element("td", {{"data-v", fmt::format("{:.6g}", *key)}}, text);
  }
}

void add_row(Html& html, const RunView& view, const CandidateView& candidate) {
  const auto shown = ratio_of(view, candidate);
  const bool yardstick = candidate.id == view.comparator;
  html.open("tr").element("th", {{"scope", "row"}}, fmt::format("#{}", candidate.id));
  if (candidate.status == "inadmissible" && shown) {
    html.open("td").element("del", format_ratio(shown->ratio)).close("td");
  } else {
    html.element("td", yardstick ? "1" : shown ? format_ratio(shown->ratio) : "–");
  }
  html.element("td", shown ? fmt::format("{}", shown->sessions) : "");
  const auto& latency = candidate.latency;
  add_sorted_cell(html, latency ? std::optional(by_throughput(view) ? latency->per_second : latency->p50_seconds) : std::nullopt,
                  speed_cell(view, candidate));
  html.element("td", precision_words(candidate));
  add_sorted_cell(html, candidate.peak_memory_bytes ? std::optional(static_cast<double>(*candidate.peak_memory_bytes)) : std::nullopt,
                  candidate.peak_memory_bytes ? format_bytes(*candidate.peak_memory_bytes) : "–");
  html.element("td", candidate.margin_left ? format_share(*candidate.margin_left) : "–");
  const std::string marks = marks_of(view, candidate);
  html.element("td", candidate.status == "admissible" ? (marks.empty() ? "admissible" : "admissible, " + marks) : marks).close("tr");
}

void add_detail(Html& html, std::string_view name, std::string_view value) {
  if (!value.empty()) html.element("dt", name).element("dd", value);
}

void add_code(Html& html, std::string_view name, std::string_view value) {
  if (!value.empty()) html.element("dt", name).open("dd").element("code", value).close("dd");
}

std::string listed(const std::map<std::string, std::int64_t>& counts) {
  std::string words;
  for (const auto& [name, count] : counts) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, count);
  return words;
}

// Engines read back dozens of settings; what differs from the comparator's is what makes the difference.
std::string effective_words(const RunView& view, const CandidateView& candidate) {
  const CandidateView* comparator = view.find(view.comparator);
  std::string words;
  for (const auto& [name, value] : candidate.effective) {
    if (comparator != nullptr && comparator != &candidate) {
      const auto found = comparator->effective.find(name);
      if (found != comparator->effective.end() && found->second == value) continue;
    }
    words += fmt::format("{}{}={}", words.empty() ? "" : ", ", name, value);
  }
  return words;
}

std::string ratios_words(const CandidateView& candidate) {
  std::string words;
  if (candidate.screen_ratio) words = fmt::format("{} at first sight", format_ratio(*candidate.screen_ratio));
  for (std::size_t i = 0; i < candidate.race_ratios.size(); ++i) {
    words += fmt::format("{}{:.3f}", i > 0 ? ", " : words.empty() ? "in the race " : "; in the race ", candidate.race_ratios[i]);
  }
  return words;
}

std::string failure_words(const Json& failure) {
  std::string words = fields::text(failure, "kind");
  if (const std::string phase = fields::text(failure, "phase"); !phase.empty()) words += " in " + phase;
  if (const auto signal = fields::integer(failure, "signal")) words += fmt::format(", signal {}", *signal);
  if (const auto status = fields::integer(failure, "exit_status")) words += fmt::format(", exit status {}", *status);
  return words;
}

// What moved of a finalist's own answers when it was asked again, and in another order.
std::string consistency_words(const Json& consistency) {
  if (!consistency.is_object()) return {};
  std::string moved;
  for (const auto& [when, outputs] : object_or_empty(consistency, "spread").items()) {
    for (const auto& [output, spread] : outputs.items()) {
      moved += fmt::format("{}{}, {}: {} samples by at most {}", moved.empty() ? "" : "; ", when, output,
                           figure_of(spread, "changed_samples", 0), figure_of(spread, "max_abs", 6));
    }
  }
  return fmt::format("{}, of {} samples", moved.empty() ? "the same bits" : moved, figure_of(consistency, "samples", 0));
}

void add_details(Html& html, const RunView& view, const CandidateView& candidate) {
  if (candidate.latency) add_detail(html, "latency", latency_words(*candidate.latency));
  if (candidate.accelerator) add_detail(html, "accelerator", accelerator_words(*candidate.accelerator));
  if (candidate.build_seconds) add_detail(html, "built in", format_duration(*candidate.build_seconds));
  if (candidate.artifact_bytes) add_detail(html, "artifact size", format_bytes(*candidate.artifact_bytes));
  add_detail(html, "nodes by precision", listed(candidate.precisions));
  add_detail(html, "nodes by device", listed(candidate.placement));
  add_detail(html, "read back, where it differs from the comparator", effective_words(view, candidate));
  add_code(html, "artifact", candidate.artifact);
  add_code(html, "digest", candidate.digest);
  add_detail(html, "asked again", consistency_words(fields::parsed(candidate.consistency_json)));
}

void add_gate(Html& html, std::string_view name, const std::string& gate_json) {
  const Json gate = fields::parsed(gate_json);
  for (const Json& task : fields::member(gate, "tasks")) add_detail(html, name, task_words(task));
}

Html full_evidence(const RunView& view, const CandidateView& candidate) {
  Html html;
  html.open("dl");
  add_detail(html, "why", candidate.reason);
  add_detail(html, "not as asked", fmt::format("{}", fmt::join(candidate.ignored, ", ")));
  add_detail(html, "times as fast", ratios_words(candidate));
  add_detail(html, "failed", failure_words(fields::parsed(candidate.failure_json)));
  add_details(html, view, candidate);
  add_code(html, "to see it again", candidate.reproduce);
  html.close("dl");
  const std::string name = fmt::format("#{}", candidate.id);
  html.add(gate_tables(fields::parsed(candidate.gate_tuning_json), name + " on tuning data"));
  html.add(gate_tables(fields::parsed(candidate.gate_holdout_json), name + " on the hold-out"));
  if (candidate.log_tail.empty()) return html;
  return html.element("pre", {{"tabindex", "0"}, {"aria-label", "last lines of its log"}}, excerpt(candidate.log_tail, kLogFull));
}

// Of one among thousands. What was judged keeps its figures, and each its command.
Html short_evidence(const RunView& view, const CandidateView& candidate, Evidence evidence) {
  const bool bare = evidence == Evidence::kBare;
  const bool may_ship = candidate.status == "admissible";
  Html html;
  html.open("dl");
  add_detail(html, "why", excerpt(candidate.reason, bare ? kReasonBare : kReasonShort));
  if (!bare) add_detail(html, "times as fast", ratios_words(candidate));
  if (!bare && may_ship) add_details(html, view, candidate);
  if (!bare || may_ship) add_gate(html, "tuning data", candidate.gate_tuning_json);
  if (!bare || may_ship) add_gate(html, "hold-out", candidate.gate_holdout_json);
  add_code(html, "to see it again", candidate.reproduce);
  html.close("dl");
  if (bare || candidate.log_tail.empty()) return html;
  return html.element("pre", {{"tabindex", "0"}}, excerpt(candidate.log_tail, kLogShort));
}

Html evidence_of(const RunView& view, const CandidateView& candidate, Evidence evidence) {
  return evidence == Evidence::kFull ? full_evidence(view, candidate) : short_evidence(view, candidate, evidence);
}

// Filled in and shown by the script: without it there is nothing to press.
Html controls(const RunView& view) {
  Html html;
  html.open("form", {{"id", "filter"}, {"hidden", ""}, {"role", "search"}, {"aria-label", "Filter the candidates"}});
  html.open("label").text("Find ").empty("input", {{"type", "search"}, {"id", "words"}, {"placeholder", "NUM_STREAMS=2 bf16"}}).close("label");
  html.open("label").text("Status ").open("select", {{"id", "status"}}).element("option", {{"value", ""}}, "all");
  for (const char* status : {"admissible", "inadmissible", "failed", "duplicate", "undecided", "pruned"}) {
    const bool there = std::ranges::any_of(view.candidates, [&](const auto& one) { return one.second.status == status; });
    if (there) html.element("option", {{"value", status}}, status);
  }
  html.close("select").close("label").open("output", {{"id", "count"}, {"aria-live", "polite"}}).close("output");
  return html.close("form").line();
}

}  // namespace

Html candidates_part(const RunView& view, Evidence evidence) {
  Html html;
  if (view.candidates.empty()) return html;
  html.element("p", {{"class", "note"}},
               fmt::format("times: how many times as fast as {}, over n sessions of fresh processes (one is a first look, no claim); crossed "
                           "out where it is outside the contract. runs in: the precision of most nodes, read back. margin: what is left of "
                           "the accuracy margin by point estimates on {} tuning samples. Each route opens to its evidence and to the command "
                           "that does it again.", comparator_words(view), view.tuning_samples));
  if (evidence != Evidence::kFull) {
    html.element("p", {{"class", "note"}}, "Evidence is shortened here so that the page stays small: `fiel show --json` has all of it.");
  }
  if (view.candidates.size() > kRowsPrinted) {
    html.element("p", {{"class", "note on-paper"}}, fmt::format("The first {} are printed; the page itself has all of them.", kRowsPrinted));
  }
  html.add(controls(view));
  html.add(start_table(fmt::format("{} candidates, the admissible before the others, fastest first", view.candidates.size()),
                       {{"id", ""}, {"times", "number"}, {"n", "number"}, {by_throughput(view) ? "per s" : "p50", "number"},
                        {"runs in", ""}, {"peak", "number"}, {"margin", "number"}, {"status", ""}},
                       {{"id", "all"}}));
  for (const CandidateView* candidate : ranked(view)) {
    const bool ships = candidate->id == view.ships;
    html.open("tbody", {{"id", candidate_target(candidate->id)}, {"class", candidate->status + (ships ? " ships" : "")}});
    add_row(html, view, *candidate);
    html.open("tr").open("td", {{"colspan", std::to_string(kColumns)}}).open("details");
    html.open("summary").element("code", candidate->route).close("summary");
    html.wrap("div", {{"class", "evidence"}}, evidence_of(view, *candidate, evidence));
    html.close("details").close("td").close("tr").close("tbody").line();
  }
  end_table(html);
  return html;
}

}  // namespace fiel
