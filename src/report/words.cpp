#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.h"
#include "decide/rounds.h"
#include "report/candidates.h"
#include "report/fields.h"
#include "search/stop_reason.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array<Words, 17> kKinds = {{
    {"tried", "not judged in full: slower at first sight, or no time left"},
    {"admissible", "admissible"},
    {"unsupported", "not taken by the engine"},
    {"build_error", "did not build"},
    {"crash", "crashed"},
    {"timeout", "missed a deadline"},
    {"out_of_memory", "ran out of memory"},
    {"non_finite", "gave NaN or infinity"},
    {"wrong", "outside the accuracy contract"},
    {"wrong_slice", "outside the contract on a slice"},
    {"over_limit", "over a limit of the contract"},
    {"unstable", "answered differently in another process"},
    {"overloaded", "could not keep up with the requests"},
    {"fell_back", "ran elsewhere than asked"},
    {"duplicate", "the same as an earlier one"},
    {"mistrusted", "not to be believed"},
    {"undecided", "accuracy neither proven nor refuted"},
}};

std::string_view words_for(std::span<const Words> list, std::string_view key) {
  const auto found = std::ranges::find_if(list, [&](const Words& words) { return words.first == key; });
  return found == list.end() ? key : found->second;
}

// A gate without any bound on a drop made no inference: its contract claims this set only.
bool is_of_this_set(const RunView& view, const Json& gate) {
  if (!view.claim.empty()) return view.claim == "this_set";
  const Json& tasks = fields::member(gate, "tasks");
  return std::none_of(tasks.begin(), tasks.end(),
                      [](const Json& task) { return fields::number(task, "drop_upper").has_value(); });
}

}  // namespace

std::string format_ratio(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 1.2 && ratio > 0.8 ? 3 : 2); }

std::string format_share(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3 + (count < 0 ? 1U : 0U);) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string format_sessions(std::int64_t count) { return fmt::format("{} session{}", count, count == 1 ? "" : "s"); }

std::optional<RatioShown> ratio_of(const RunView& view, const CandidateView& candidate) {
  if (view.comparator == candidate.id) return std::nullopt;
  if (view.winner == candidate.id && view.speedup) {
    return RatioShown{view.speedup->estimate, view.speedup->sessions_estimating};
  }
  if (!candidate.race_ratios.empty()) {
    return RatioShown{stats::median(candidate.race_ratios), static_cast<std::int64_t>(candidate.race_ratios.size())};
  }
  if (candidate.screen_ratio) return RatioShown{*candidate.screen_ratio, 1};
  return std::nullopt;
}

std::string precision_words(const CandidateView& candidate) {
  std::int64_t all = 0;
  std::pair<std::string, std::int64_t> most;
  for (const auto& [name, count] : candidate.precisions) {
    all += count;
    if (count > most.second) most = {name, count};
  }
  if (all <= 0) return "-";
  const double share = static_cast<double>(most.second) / static_cast<double>(all);
  return share > 0.995 ? most.first : fmt::format("{} {:.0f}%", most.first, 100 * share);
}

std::string_view kind_words(std::string_view kind) { return words_for(kKinds, kind); }

std::string_view stop_words(std::string_view stop_reason) {
  const auto known = parse_stop_reason(stop_reason);
  return known ? stop_reason_words(*known) : stop_reason;  // of a newer minor version
}

std::string comparator_words(const RunView& view) {
  if (!view.comparator) return "the comparator";
  const CandidateView* comparator = view.find(view.comparator);
  const bool lends_time =
      comparator != nullptr && comparator->status != "admissible" && view.comparator == view.reference;
  const std::string_view name =
      lends_time ? "reference" : view.comparator == view.baseline ? "baseline" : "comparator";
  return fmt::format("the {} (#{})", name, *view.comparator);
}

std::string accuracy_words(const RunView& view, const CandidateView& winner) {
  const Json gate = fields::parsed(winner.gate_holdout_json);
  const auto n = fields::integer(gate, "samples_seen").value_or(view.holdout_samples);
  if (is_of_this_set(view, gate)) {
    return fmt::format("inside the contract's margins on these {} hold-out samples (claim = \"this_set\": about other data "
                       "nothing is said)", n);
  }
  return fmt::format("proven on {} hold-out samples", n);
}

std::string speedup_words(const RunView& view) {
  if (!view.speedup) return "faster than " + comparator_words(view);
  const Speedup& speedup = *view.speedup;
  std::string text = fmt::format("{} times as fast as {}", format_ratio(speedup.estimate), comparator_words(view));
  if (speedup.low && speedup.high && speedup.confidence) {
    return text + fmt::format(" [{}, {}] ({:.1f} % interval, {})", format_ratio(*speedup.low),
                              format_ratio(*speedup.high), 100 * *speedup.confidence,
                              format_sessions(speedup.sessions_estimating));
  }
  return text + fmt::format(" (median of {}, too few for an interval)", format_sessions(speedup.sessions_estimating));
}

// The best of those that were in the race, for a reader who wonders how near it was.
std::string best_words(const RunView& view) {
  const CandidateView* best = nullptr;
  double ratio = 0;
  for (const auto& [id, candidate] : view.candidates) {
    const auto shown = ratio_of(view, candidate);
    if (candidate.status != "admissible" || candidate.race_ratios.empty() || !shown || !(shown->ratio > ratio)) continue;
    best = &candidate;
    ratio = shown->ratio;
  }
  if (best == nullptr) return "No admissible candidate came as far as the race.";
  return fmt::format("The fastest admissible one in the race, #{}, ran {} times as fast as {} (median of {}{}; more than "
                     "{} was asked for).",
                     best->id, format_ratio(ratio), comparator_words(view),
                     format_sessions(static_cast<std::int64_t>(best->race_ratios.size())), range_words(best->race_ratios),
                     format_ratio(1 + view.min_gain));
}

std::string task_words(const Json& task) {
  const std::string slice = fields::text(task, "slice");
  const auto n = fields::integer(task, "n").value_or(0);
  std::string text = fmt::format("{}{}", fields::text(task, "task"), slice.empty() ? "" : " on " + slice);
  if (const auto drop = fields::number(task, "drop")) text += fmt::format(" lost {:.4f}", *drop);
  if (const auto upper = fields::number(task, "drop_upper")) text += fmt::format(" (at most {:.4f})", *upper);
  if (const auto margin = fields::number(task, "margin")) text += fmt::format(" of {:.4f} allowed", *margin);
  return text + fmt::format(", n {}", n);
}

std::string latency_words(const LatencySummary& latency) {
  std::string text = fmt::format("p50 {}", format_duration(latency.p50_seconds));
  const auto tail = [&](std::string_view name, const std::optional<double>& value, const std::optional<double>& upper) {
    if (!value || !upper) return;  // too few timings for a bound: no number
    text += fmt::format(", {} {} (at most {} with {:.0f} %)", name, format_duration(*value), format_duration(*upper),
                        100 * kTailConfidence);
  };
  tail("p90", latency.p90_seconds, latency.p90_at_most_seconds);
  tail("p99", latency.p99_seconds, latency.p99_at_most_seconds);
  return text + fmt::format(", of {} timings", latency.count);
}

std::string accelerator_words(const AcceleratorSummary& accelerator) {
  std::string text;
  if (accelerator.p50_seconds) text = fmt::format("busy for {} of the median inference", format_duration(*accelerator.p50_seconds));
  if (!accelerator.memory_bytes) return text;
  return text + fmt::format("{}{} of its own memory", text.empty() ? "" : ", ", format_bytes(*accelerator.memory_bytes));
}

std::string range_words(std::span<const double> ratios) {
  if (ratios.size() < 2) return {};
  const auto [low, high] = std::ranges::minmax(ratios);
  return fmt::format(", {} to {}", format_ratio(low), format_ratio(high));
}

std::string one_line(std::string_view reason) {
  const auto end = reason.find_last_not_of(" \n");
  if (end == std::string_view::npos) return {};
  reason = reason.substr(0, end + 1);
  const auto before = reason.rfind('\n');
  return std::string(before == std::string_view::npos ? reason : reason.substr(before + 1));
}

std::string typed_path(const std::filesystem::path& path) {
  std::error_code code;
  const auto near = std::filesystem::proximate(path, code);
  return shell_quoted(!code && near.string().size() < path.string().size() ? near.string() : path.string());
}

}  // namespace fiel
