#include "report/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "contract/labels.h"
#include "report/ranking.h"
#include "report/words.h"

namespace fiel {
namespace {

template <class T>
std::string optional_text(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string optional_micros(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{}", *seconds * 1e6) : std::string();
}

struct CsvColumn {
  std::string_view title;
  std::string (*cell)(const RunView&, const CandidateView&);
};

constexpr CsvColumn kCsvColumns[] = {
    {"id", [](const RunView&, const CandidateView& c) { return fmt::format("{}", c.id); }},
    {"status", [](const RunView&, const CandidateView& c) { return c.status; }},
    {"kind", [](const RunView&, const CandidateView& c) { return c.kind; }},
    {"ships", [](const RunView& view, const CandidateView& c) { return std::string(c.id == view.ships ? "yes" : "no"); }},
    {"roles", [](const RunView&, const CandidateView& c) { return fmt::format("{}", fmt::join(c.roles, " ")); }},
    {"engine", [](const RunView&, const CandidateView& c) { return c.engine; }},
    {"route", [](const RunView&, const CandidateView& c) { return c.route; }},
    {"times_as_fast",
     [](const RunView& view, const CandidateView& c) {
       const auto shown = ratio_of(view, c);
       return shown ? fmt::format("{}", shown->ratio) : std::string();
     }},
    {"sessions",
     [](const RunView& view, const CandidateView& c) {
       const auto shown = ratio_of(view, c);
       return shown ? fmt::format("{}", shown->sessions) : std::string();
     }},
    {"latency_mean_us",
     [](const RunView&, const CandidateView& c) { return c.latency ? optional_micros(c.latency->mean_seconds) : std::string(); }},
    {"latency_p50_us",
     [](const RunView&, const CandidateView& c) { return c.latency ? optional_micros(c.latency->p50_seconds) : std::string(); }},
    {"latency_p90_us",
     [](const RunView&, const CandidateView& c) { return c.latency ? optional_micros(c.latency->p90_seconds) : std::string(); }},
    {"latency_p99_us",
     [](const RunView&, const CandidateView& c) { return c.latency ? optional_micros(c.latency->p99_seconds) : std::string(); }},
    {"latency_n", [](const RunView&, const CandidateView& c) { return c.latency ? fmt::format("{}", c.latency->count) : std::string(); }},
    {"throughput_per_second",
     [](const RunView&, const CandidateView& c) { return c.latency ? fmt::format("{}", c.latency->per_second) : std::string(); }},
    {"margin_left", [](const RunView&, const CandidateView& c) { return optional_text(c.margin_left); }},
    {"peak_memory_bytes", [](const RunView&, const CandidateView& c) { return optional_text(c.peak_memory_bytes); }},
    {"artifact_bytes", [](const RunView&, const CandidateView& c) { return optional_text(c.artifact_bytes); }},
    {"build_seconds", [](const RunView&, const CandidateView& c) { return optional_text(c.build_seconds); }},
    {"same_as", [](const RunView&, const CandidateView& c) { return optional_text(c.same_as); }},
    {"reason", [](const RunView&, const CandidateView& c) { return c.reason.empty() ? std::string() : one_line(c.reason); }},
    {"digest", [](const RunView&, const CandidateView& c) { return c.digest; }},
};

constexpr std::size_t kMarkdownRows = 10;

// The fastest admissible ones, and whatever the verdict names.
std::vector<const CandidateView*> markdown_rows(const RunView& view) {
  std::vector<const CandidateView*> rows;
  for (const CandidateView* candidate : ranked(view)) {  // the admissible ones first
    if (candidate->status != "admissible" || rows.size() == kMarkdownRows) break;
    rows.push_back(candidate);
  }
  for (const auto& id : {view.ships, view.comparator, view.baseline}) {
    const CandidateView* named = view.find(id);
    if (named != nullptr && std::ranges::find(rows, named) == rows.end()) rows.push_back(named);
  }
  return rows;
}

// What ends a cell or a line of Markdown's tables.
std::string markdown_cell(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string markdown_marks(const RunView& view, const CandidateView& candidate) {
  std::vector<std::string> marks;
  if (candidate.id == view.ships) marks.emplace_back("**ships**");
  if (candidate.id == view.baseline) marks.emplace_back("baseline");
  if (candidate.id == view.comparator && view.comparator != view.baseline) marks.emplace_back("comparator");
  if (candidate.status != "admissible") marks.push_back(candidate.kind);
  return fmt::format("{}", fmt::join(marks, ", "));
}

std::string markdown_row(const RunView& view, const CandidateView& candidate) {
  const auto shown = ratio_of(view, candidate);
  const bool yardstick = candidate.id == view.comparator;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | `{}` |\n", candidate.id,
                     yardstick ? "1" : shown ? format_ratio(shown->ratio) : "",
                     shown && !yardstick ? fmt::format("{}", shown->sessions) : "",
                     candidate.latency ? format_duration(candidate.latency->p50_seconds) : "",
                     candidate.peak_memory_bytes ? format_bytes(*candidate.peak_memory_bytes) : "",
                     candidate.margin_left ? format_share(*candidate.margin_left) : "", markdown_marks(view, candidate),
                     markdown_cell(candidate.route));
}

std::string markdown_verdict(const RunView& view) {
  if (view.verdict.empty()) return "**no verdict yet**: nothing below is a claim.\n";
  std::string word = view.verdict;
  std::ranges::replace(word, '_', ' ');
  std::string text = fmt::format("**{}**: {}.\n", word, markdown_cell(view.reason));
  if (const CandidateView* winner = view.find(view.winner)) {
    text += fmt::format("\n{}, {}.\n", speedup_words(view), accuracy_words(view, *winner));
  }
  for (const std::string& missing : view.missing) text += fmt::format("\n- missing: {}", markdown_cell(missing));
  return view.missing.empty() ? text : text + "\n";
}

}  // namespace

std::string format_csv(const RunView& view) {
  std::vector<std::string> row;
  for (const CsvColumn& column : kCsvColumns) row.emplace_back(column.title);
  std::string text = format_csv_row(row);
  for (const auto& [id, candidate] : view.candidates) {
    row.clear();
    for (const CsvColumn& column : kCsvColumns) row.push_back(column.cell(view, candidate));
    text += format_csv_row(row);
  }
  return text;
}

std::string format_markdown(const RunView& view) {
  std::string text = markdown_verdict(view);
  const auto rows = markdown_rows(view);
  if (rows.empty()) return text;
  text += fmt::format("\n| id | times as fast | sessions | p50{} | peak memory | margin left | | route |\n"
                      "|---:|---:|---:|---:|---:|---:|---|---|\n", view.scenario == "offline" ? " of a batch" : "");
  for (const CandidateView* candidate : rows) text += markdown_row(view, *candidate);
  const auto admissible = std::ranges::count_if(view.candidates, [](const auto& entry) { return entry.second.status == "admissible"; });
  return text + fmt::format("\n{} of {} candidates meet the contract ({} tuning and {} hold-out samples). `times as fast` as {}.\n",
                            admissible, view.candidates.size(), view.tuning_samples, view.holdout_samples, comparator_words(view));
}

}  // namespace fiel
