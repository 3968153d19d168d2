#include "report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/fields.h"
#include "report/phases.h"
#include "report/words.h"

namespace fiel {
namespace {

std::string unfinished_words(const RunView& view) {
  std::string text = fmt::format("{} of work so far", format_duration(view.budget.spent_seconds));
  if (view.budget.wall_seconds) text += fmt::format(" of {}", format_duration(*view.budget.wall_seconds));
  if (!view.stage.empty()) text += fmt::format("; last: {}", phase_words(view.stage));
  return text + ". Nothing below is a claim.";
}

}  // namespace

std::string spaced(std::string word) {
  std::ranges::replace(word, '_', ' ');
  return word;
}

std::string verdict_word(const RunView& view) { return view.verdict.empty() ? "no verdict yet" : spaced(view.verdict); }

std::string verdict_sentence(const RunView& view) {
  if (view.verdict.empty()) return unfinished_words(view);
  if (view.verdict == "improved") {
    const CandidateView* winner = view.find(view.winner);
    if (winner == nullptr) return view.reason;
    return fmt::format("#{} is {}, {}.", winner->id, speedup_words(view), accuracy_words(view, *winner));
  }
  if (view.verdict == "not_improved") return fmt::format("keep {}; {}.", comparator_words(view), view.reason);
  if (view.verdict == "undecided") return view.reason + ".";
  if (view.verdict == "infeasible") {
    return fmt::format("{}, and nothing ships. What came nearest stands below.", view.reason);
  }
  return view.reason;  // of a newer minor version
}

std::string verdict_remark(const RunView& view) {
  if (view.verdict == "not_improved") {
    return best_words(view) + " That is an answer: of what was tried here, nothing that keeps the contract is worth a change.";
  }
  if (view.verdict == "undecided" && view.ships) {
    return fmt::format("Until it is decided, {} ships.", comparator_words(view));
  }
  return {};
}

std::string baseline_warning(const RunView& view) {
  const CandidateView* baseline = view.find(view.baseline);
  if (baseline == nullptr || view.baseline_admissible) return {};
  std::string text = fmt::format("the baseline (#{}, {}) does not meet the contract: {}.", baseline->id, baseline->route,
                                 baseline->reason.empty() ? baseline->kind : one_line(baseline->reason));
  const CandidateView* comparator = view.find(view.comparator);
  if (comparator != nullptr && comparator != baseline) {
    text += comparator->status == "admissible"
                ? fmt::format(" So #{} must be beaten instead: {}.", comparator->id, view.comparator_why)
                : fmt::format(" Nothing is there that must be beaten: {}.", view.comparator_why);
  }
  return text;
}

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

std::string break_even_words(const RunView& view) {
  const BreakEven& even = *view.break_even;
  if (!even.executions) {
    return fmt::format("never: no saved time is proven against {} of tuning", format_duration(view.budget.spent_seconds));
  }
  std::string text = fmt::format("after {} executions: {} of tuning against {} saved by each (from the lower end of the interval)",
                                 format_count(*even.executions), format_duration(view.budget.spent_seconds),
                                 format_duration(even.saved_seconds_per_execution));
  if (const auto planned = even.planned_executions) {
    text += fmt::format("; {} are planned{}", format_count(*planned), *even.executions <= *planned ? "" : ", which is too few");
  }
  return text;
}

std::string spent_words(const RunView& view) {
  const BudgetView& budget = view.budget;
  std::string text = format_duration(budget.spent_seconds);
  if (budget.wall_seconds) text += fmt::format(" of {}", format_duration(*budget.wall_seconds));
  if (!budget.stop_reason.empty()) text += fmt::format("; the search ended when {}", stop_words(budget.stop_reason));
  return text;
}

std::string measured_on_words(const RunView& view) {
  std::string engines;
  for (const EngineView& engine : view.engines) {
    engines += fmt::format("{}{} {}", engines.empty() ? "" : ", ", engine.name, engine.version);
  }
  const Json run = fields::parsed(view.run_json);
  const Json& machine = fields::member(run, "machine");
  return fmt::format("{} ({} cores), {}", fields::text(machine, "cpu"), fields::integer(machine, "cores").value_or(0),
                     engines);
}

std::string measured_for_words(const RunView& view) {
  const Json run = fields::parsed(view.run_json);
  const std::filesystem::path model = fields::text(fields::member(run, "model"), "path");
  return fmt::format("{}: {}, {}; {} tuning and {} hold-out samples", model.filename().string(), view.scenario,
                     view.objective, view.tuning_samples, view.holdout_samples);
}

}  // namespace fiel
