#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/candidates.h"
#include "report/fields.h"
#include "report/phases.h"
#include "report/text_parts.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr std::size_t kDigestShown = 12;

void say_improved(Page& page, const RunView& view) {
  const CandidateView* winner = view.find(view.winner);
  if (winner == nullptr) return page.paragraph("", "improved: " + view.reason, Paint::kGood);
  page.paragraph("", fmt::format("improved: #{} is {}, {}.", winner->id, speedup_words(view), accuracy_words(view, *winner)),
                 Paint::kGood);
}

void say_not_improved(Page& page, const RunView& view) {
  page.paragraph("", fmt::format("not improved: keep {}; {}.", comparator_words(view), view.reason), Paint::kStrong);
  page.paragraph("", best_words(view) +
                         " That is an answer: of what was tried here, nothing that keeps the contract is worth a change.");
}

void say_undecided(Page& page, const RunView& view) {
  page.paragraph("", fmt::format("undecided: {}.", view.reason), Paint::kDoubtful);
  for (const std::string& missing : view.missing) page.paragraph("missing", missing);
  if (view.ships) page.paragraph("", fmt::format("Until it is decided, {} ships.", comparator_words(view)));
}

void say_infeasible(Page& page, const RunView& view) {
  page.paragraph("", fmt::format("infeasible: {}, and nothing ships. What came nearest stands below.", view.reason),
                 Paint::kBad);
}

void say_unfinished(Page& page, const RunView& view) {
  std::string text = fmt::format("{} of work so far", format_duration(view.budget.spent_seconds));
  if (view.budget.wall_seconds) text += fmt::format(" of {}", format_duration(*view.budget.wall_seconds));
  if (!view.stage.empty()) text += fmt::format("; last: {}", phase_words(view.stage));
  page.paragraph("", fmt::format("no verdict yet: {}. Nothing below is a claim.", text), Paint::kDoubtful);
  page.paragraph("", "If it is not running now, go on with:");
  page.command(2, fmt::format("fiel resume {}", typed_path(view.folder)));
}

std::string memory_words(const std::optional<std::int64_t>& bytes) { return bytes ? format_bytes(*bytes) : "-"; }

std::string outcome_words(const NomineeView& nominee) {
  const auto won = std::ranges::count_if(nominee.sessions, [](const SessionResult& s) { return s.win; });
  if (nominee.speed.empty()) return nominee.sessions.empty() ? "not tried" : "speed not decided yet";
  std::string text = fmt::format("speed {}: {}", nominee.speed,
                                 nominee.message.empty()
                                     ? fmt::format("{} of {} sessions won", won, nominee.sessions.size())
                                     : nominee.message);
  if (!nominee.holdout.empty()) text += fmt::format("; hold-out {}", nominee.holdout);
  return text;
}

}  // namespace

void say_verdict(Page& page, const RunView& view) {
  if (view.verdict.empty()) return say_unfinished(page, view);
  if (view.verdict == "improved") return say_improved(page, view);
  if (view.verdict == "not_improved") return say_not_improved(page, view);
  if (view.verdict == "undecided") return say_undecided(page, view);
  if (view.verdict == "infeasible") return say_infeasible(page, view);
  page.paragraph("", fmt::format("{}: {}", view.verdict, view.reason), Paint::kStrong);  // of a newer minor version
}

void say_flags(Page& page, const RunView& view) {
  const CandidateView* baseline = view.find(view.baseline);
  if (baseline == nullptr || view.baseline_admissible) return;
  std::string text = fmt::format("warning: the baseline (#{}, {}) does not meet the contract: {}.", baseline->id,
                                 baseline->route, baseline->reason.empty() ? baseline->kind : one_line(baseline->reason));
  const CandidateView* comparator = view.find(view.comparator);
  if (comparator != nullptr && comparator != baseline) {
    text += comparator->status == "admissible"
                ? fmt::format(" So #{} must be beaten instead: {}.", comparator->id, view.comparator_why)
                : fmt::format(" Nothing is there that must be beaten: {}.", view.comparator_why);
  }
  page.paragraph("", text, Paint::kBad);
}

void say_what_ships(Page& page, const RunView& view) {
  const CandidateView* ships = view.find(view.ships);
  if (ships == nullptr) return;
  page.paragraph("ships", fmt::format("#{}  {}", ships->id, ships->route));
  page.paragraph(" ", fmt::format("artifact {} ({}), peak memory {}", cut(ships->artifact, kDigestShown),
                                  memory_words(ships->artifact_bytes), memory_words(ships->peak_memory_bytes)));
  if (ships->latency) {
    page.paragraph(" ", fmt::format("latency{} {}", view.scenario == "offline" ? " of a batch" : "", latency_words(*ships->latency)));
  }
  page.command(0, fmt::format("{:<{}}fiel export {}", "bundle", kLabelWidth, typed_path(view.folder)));
}

void say_proof(Page& page, const RunView& view) {
  for (const NomineeView& nominee : view.nominees) {
    page.paragraph(nominee.turn == 1 ? "proof" : " ",
                   fmt::format("nominee {}, #{}: {}", nominee.turn, nominee.id, outcome_words(nominee)));
    const CandidateView* candidate = view.find(nominee.id);
    const Json gate = candidate != nullptr ? fields::parsed(candidate->gate_holdout_json) : Json();
    for (const Json& task : fields::member(gate, "tasks")) page.paragraph(" ", "  " + task_words(task), Paint::kDim);
  }
}

void say_break_even(Page& page, const RunView& view) {
  if (!view.break_even) return;
  const BreakEven& even = *view.break_even;
  if (!even.executions) {
    page.paragraph("pays off", fmt::format("never: no saved time is proven against {} of tuning",
                                           format_duration(view.budget.spent_seconds)));
    return;
  }
  page.paragraph("pays off",
                 fmt::format("after {} executions: {} of tuning against {} saved by each (from the lower end of the "
                             "interval); {} are planned{}",
                             format_count(*even.executions), format_duration(view.budget.spent_seconds),
                             format_duration(even.saved_seconds_per_execution), format_count(even.planned_executions),
                             *even.executions <= even.planned_executions ? "" : ", which is too few"));
}

namespace {

// Only what is not as it should be.
void say_confinement(Page& page, const Json& confinement) {
  std::vector<std::string> lines = fields::texts(confinement, "missing");
  for (const std::string& engine : fields::texts(confinement, "unconfined_engines")) {
    lines.push_back(fmt::format("{}: may do whatever you may (confine = false)", engine));
  }
  if (!lines.empty()) page.paragraph("not confined", fmt::format("{}", fmt::join(lines, "; ")));
}

}  // namespace

void say_bounds(Page& page, const RunView& view) {
  const Json run = fields::parsed(view.run_json);
  if (!run.is_object()) return;
  std::string engines;
  for (const EngineView& engine : view.engines) {
    engines += fmt::format("{}{} {}", engines.empty() ? "" : ", ", engine.name, engine.version);
  }
  const Json& machine = fields::member(run, "machine");
  page.paragraph("measured on", fmt::format("{} ({} cores), {}", fields::text(machine, "cpu"),
                                            fields::integer(machine, "cores").value_or(0), engines));
  say_confinement(page, fields::member(run, "confinement"));
  const Json& model = fields::member(run, "model");
  page.paragraph("for", fmt::format("{}: {}, {}; {} tuning and {} hold-out samples",
                                    std::filesystem::path(fields::text(model, "path")).filename().string(), view.scenario,
                                    view.objective, view.tuning_samples, view.holdout_samples));
}

}  // namespace fiel
