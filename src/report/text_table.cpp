#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/phases.h"
#include "report/ranking.h"
#include "report/sentences.h"
#include "report/text_parts.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr std::size_t kMachinesShown = 8;

constexpr std::size_t kRowsShown = 10;  // without --all; what ships and what it was compared with always are
constexpr std::size_t kRouteIndent = 10;

bool is_shown_as_row(const RunView& view, const CandidateView& candidate) {
  return candidate.status == "admissible" || !candidate.race_ratios.empty() || candidate.id == view.baseline ||
         candidate.id == view.comparator;
}

bool is_a_fixed_point(const RunView& view, const CandidateView& candidate) {
  return candidate.id == view.ships || candidate.id == view.baseline || candidate.id == view.comparator;
}

std::string right(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(width - std::min(used, width), ' ') + std::string(text);
}

std::string row_of(const RunView& view, const CandidateView& candidate, std::string_view rank) {
  const auto shown = ratio_of(view, candidate);
  const bool yardstick = candidate.id == view.comparator;
  return fmt::format("{}  {}  {} {}  {}  {:<8}  {}  {}  {}", right(rank, 2), right(fmt::format("#{}", candidate.id), 4),
                     right(yardstick ? "1" : shown ? format_ratio(shown->ratio) : "-", 5),
                     right(shown ? fmt::format("{}", shown->sessions) : "", 3), right(speed_cell(view, candidate), 8),
                     precision_words(candidate),
                     right(candidate.peak_memory_bytes ? format_bytes(*candidate.peak_memory_bytes) : "-", 8),
                     right(candidate.margin_left ? format_share(*candidate.margin_left) : "-", 6),
                     marks_of(view, candidate));
}

// "[1.80, 1.87] "
std::string spread_words(const RunView& view, const CandidateView& candidate) {
  const auto spread = spread_of(view, candidate);
  return spread ? fmt::format("[{}, {}] ", format_ratio(spread->low), format_ratio(spread->high)) : std::string();
}

// The one that came nearest speaks for its group.
const CandidateView& example_of(const CandidateGroup& group) {
  return **std::ranges::max_element(group, [](const CandidateView* a, const CandidateView* b) {
    return std::pair(a->margin_left.value_or(-1e9), a->screen_ratio.value_or(0)) <
           std::pair(b->margin_left.value_or(-1e9), b->screen_ratio.value_or(0));
  });
}

}  // namespace

void say_candidates(Page& page, const RunView& view, Detail detail) {
  std::vector<const CandidateView*> rows = ranked(view);
  std::erase_if(rows, [&](const CandidateView* candidate) { return !is_shown_as_row(view, *candidate); });
  if (rows.empty()) return;
  page.blank();
  page.paragraph("", fmt::format("times: how many times as fast as {}, over n sessions of fresh processes (one is a first look, "
                                 "no claim), with their range in brackets, for the winner its interval; runs in: the precision "
                                 "of most nodes, read back; margin: what is left of the accuracy margin by point estimates on "
                                 "{} tuning samples.",
                                 comparator_words(view), view.tuning_samples), Paint::kDim);
  page.line(fmt::format("    id  times   n  {}  runs in       peak  margin", right(by_throughput(view) ? "per s" : "p50", 8)),
            Paint::kStrong);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool wanted = detail == Detail::kAll || shown < kRowsShown || is_a_fixed_point(view, *rows[i]);
    if (!wanted) continue;
    ++shown;
    const std::string rank = rows[i]->status == "admissible" ? fmt::format("{}", i + 1) : "-";
    page.line(row_of(view, *rows[i], rank), rows[i]->id == view.ships ? Paint::kStrong : Paint::kNone);
    page.indented(kRouteIndent, spread_words(view, *rows[i]) + rows[i]->route, Paint::kDim);
    if (!rows[i]->ignored.empty()) {
      page.indented(kRouteIndent, fmt::format("not as asked: {}", fmt::join(rows[i]->ignored, ", ")), Paint::kDim);
    }
  }
  if (shown < rows.size()) page.line(fmt::format("      ... and {} more: --all", rows.size() - shown), Paint::kDim);
  if (view.equivalent.size() > 1) {
    std::vector<std::string> names;
    for (const int id : view.equivalent) names.push_back(fmt::format("#{}", id));
    page.paragraph("", fmt::format("Equal to the fastest within {:.3g} %: {}. Among equals more accuracy to spare goes first, "
                                   "then less memory, then fewer changed settings.",
                                   100 * view.min_gain, fmt::join(names, ", ")));
  }
}

void say_left_out(Page& page, const RunView& view, Detail detail) {
  if (view.candidates.empty()) return;
  page.blank();
  page.paragraph("", counts_words(view));
  for (const auto& [kind, group] : groups_of(view)) {
    page.line(fmt::format("{:>6}  {}", group.size(), group_words(kind, group)), Paint::kStrong);
    if (is_waiting(kind, group) && detail == Detail::kBest) continue;
    for (const CandidateView* candidate : detail == Detail::kAll ? group : CandidateGroup{&example_of(group)}) {
      const std::string why = candidate->reason.empty() ? candidate->route : one_line(candidate->reason);
      if (detail == Detail::kBest) {
        page.line(fmt::format("        e.g. #{}: {}", candidate->id, why), Paint::kDim);
        continue;
      }
      page.indented(8, fmt::format("#{} {}", candidate->id, candidate->route));
      if (!candidate->reason.empty()) page.indented(10, candidate->reason, Paint::kDim);
      page.command(10, candidate->reproduce, Paint::kDim);
    }
  }
}

void say_nearest_misses(Page& page, const RunView& view) {
  if (view.nearest_misses.empty()) return;
  page.blank();
  page.line("Nearest misses of the accuracy contract", Paint::kStrong);
  for (const NearestMiss& miss : view.nearest_misses) {
    const CandidateView* candidate = view.find(miss.id);
    const auto ratio = candidate != nullptr ? ratio_of(view, *candidate) : std::nullopt;
    page.indented(2, fmt::format("#{} {}{}", miss.id, miss.route,
                                 ratio ? fmt::format(" ({} times as fast as {}, {})", format_ratio(ratio->ratio),
                                                     comparator_words(view), format_sessions(ratio->sessions))
                                       : ""));
    // A miss of a floor leaves the margin untouched.
    page.indented(6, miss.reason + (miss.margin_left < 0
                                        ? fmt::format("; over by {} of the margin", format_share(-miss.margin_left))
                                        : std::string()));
  }
}

void say_machines(Page& page, const RunView& view) {
  if (view.machines.empty()) return;
  std::vector<std::string> words;
  for (const MachineUse& machine : view.machines) {
    if (words.size() == kMachinesShown) {
      words.push_back(fmt::format("{} more (--json has all)", view.machines.size() - kMachinesShown));
      break;
    }
    const std::string job = machine.job.empty() ? "" : fmt::format(" (job {})", machine.job);
    const std::string lost = machine.lost == 0 ? "" : fmt::format(", lost under {}", machine.lost);
    words.push_back(fmt::format("{}{}: {} steps{}", machine.node, job, machine.steps, lost));
  }
  page.paragraph("nodes", fmt::format("{}", fmt::join(words, "; ")));
}

void say_time(Page& page, const RunView& view) {
  const BudgetView& budget = view.budget;
  page.blank();
  page.paragraph("time", spent_words(view));
  std::vector<PhaseTime> phases = budget.phases;
  std::ranges::stable_sort(phases, [](const PhaseTime& a, const PhaseTime& b) { return a.seconds > b.seconds; });
  for (const PhaseTime& phase : phases) {
    page.line(fmt::format("  {}  {}  {}", right(format_duration(phase.seconds), 10),
                          right(format_share(phase.seconds / std::max(budget.spent_seconds, 1e-9)), 5),
                          phase_words(phase.name)));
  }
}

}  // namespace fiel
