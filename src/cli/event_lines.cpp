#include "cli/event_lines.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/candidates.h"
#include "tune/version.h"

namespace fiel {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ratio_or_null(const std::optional<double>& log_ratio) { return log_ratio ? Json(std::exp(*log_ratio)) : Json(nullptr); }

}  // namespace

Json candidate_line(const CandidateState& state) {
  Json line = {{"event", "candidate"},
               {"id", state.id},
               {"route", to_string(state.route)},
               {"roles", state.roles},
               {"status", status_word(state.status, Settled::kNo)},
               {"kind", to_string(state.status)},
               {"reason", text_or_null(state.reason)},
               {"screen_ratio", ratio_or_null(state.screen_log_ratio)},
               {"p50_us", state.latency ? Json(1e6 * state.latency->p50_seconds) : Json(nullptr)},
               {"margin_left", state.accuracy_margin_left ? Json(*state.accuracy_margin_left) : Json(nullptr)}};
  line["race_ratios"] = Json::array();
  for (const double log_ratio : state.race_log_ratios) line["race_ratios"].push_back(std::exp(log_ratio));
  return line;
}

EventLines::EventLines(std::FILE* out, ProgressSink& people)
    : out_(out), people_(people), started_at_(std::chrono::steady_clock::now()) {}

void EventLines::write(Json line) {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - started_at_;
  line["at_seconds"] = std::round(1e3 * since.count()) / 1e3;
  const std::string text = dump_json(line) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), out_) == text.size() && std::fflush(out_) == 0;
  complete_ = complete_ && written;
}

void EventLines::begin(const std::string& folder) {
  write({{"event", "run"}, {"format", kEventLinesFormat}, {"folder", folder}, {"fiel_version", kVersion}});
}

void EventLines::stage(std::string_view name, std::string_view detail) {
  people_.stage(name, detail);
  write({{"event", "stage"}, {"name", name}, {"detail", text_or_null(std::string(detail))}});
}

void EventLines::step(std::string_view text) { people_.step(text); }

void EventLines::status(std::string_view text) { people_.status(text); }

void EventLines::warn(std::string_view text) {
  people_.warn(text);
  write({{"event", "note"}, {"text", text}});
}

void EventLines::recorded(const Standing& standing) {
  people_.recorded(standing);
  for (const auto& [id, state] : standing.candidates) {
    const Told now = told_of(state);
    if (const auto found = told_.find(id); found != told_.end() && found->second == now) continue;
    told_[id] = now;
    write(candidate_line(state));
  }
}

EventLines::Told EventLines::told_of(const CandidateState& state) {
  return {.status = state.status,
          .screen_log_ratio = state.screen_log_ratio,
          .margin_left = state.accuracy_margin_left,
          .race_sessions = state.race_log_ratios.size(),
          .p50_seconds = state.latency ? state.latency->p50_seconds : 0};
}

void EventLines::budget(const TimeBudget& budget) {
  people_.budget(budget);
  write({{"event", "budget"}, {"spent_seconds", budget.spent_seconds}, {"wall_seconds", budget.wall_seconds}});
}

void EventLines::end(const Result<Verdict>& verdict, ExitStatus status) {
  Json line = {{"event", "end"}, {"exit_status", static_cast<int>(status)}, {"verdict", nullptr}, {"reason", nullptr},
               {"missing", Json::array()}, {"ships", nullptr}, {"winner", nullptr}, {"error", nullptr}};
  if (verdict) {
    line["verdict"] = to_string(verdict->word);
    line["reason"] = verdict->reason;
    line["missing"] = verdict->missing;
    if (verdict->ships) line["ships"] = *verdict->ships;
    if (verdict->winner) line["winner"] = *verdict->winner;
  } else {
    line["error"] = verdict.error().message;
  }
  write(std::move(line));
}

}  // namespace fiel
