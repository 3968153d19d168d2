// How the report says what it says: one wording for each word of the journal, one way to write each kind of number.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "report/view.h"

namespace fiel {

/// How much of a digest is shown to people.
inline constexpr std::size_t kDigestShown = 12;

/// Two digits where they suffice, three near 1: "1.83", "1.012".
std::string format_ratio(double ratio);
/// "62 %".
std::string format_share(double share);
/// 5000000 -> "5,000,000".
std::string format_count(std::int64_t count);
/// "1 session", "10 sessions".
std::string format_sessions(std::int64_t count);

/// The best figure there is for a candidate's speed, and how many sessions it rests on.
struct RatioShown {
  double ratio = 1;
  std::int64_t sessions = 0;
};
/// Winner: the estimate; else the race's median; else the first look. The comparator is its own yardstick: absent.
std::optional<RatioShown> ratio_of(const RunView& view, const CandidateView& candidate);

/// "bf16", "bf16 87%": the precision of most nodes, as the engine read it back; "-" where it can't tell.
std::string precision_words(const CandidateView& candidate);
/// What a kind of candidate means, for a heading: "wrong_slice" -> "outside the contract on a slice".
std::string_view kind_words(std::string_view kind);
/// "budget" -> "its share of the budget was spent".
std::string_view stop_words(std::string_view stop_reason);
/// "the baseline (#1)"; "the comparator (#2)" where it is another one; "the reference (#1)" where that only lends its time.
std::string comparator_words(const RunView& view);
/// "proven on 1000 hold-out samples", or what a claim about the set alone is worth.
std::string accuracy_words(const RunView& view, const CandidateView& winner);
/// "1.83 times as fast as the baseline (#2) [1.80, 1.87] (97.9 % interval, 10 sessions)".
std::string speedup_words(const RunView& view);
/// The best of those that were in the race, a sentence with its sessions and their range.
std::string best_words(const RunView& view);
/// "exact_match on small lost 0.0020 (at most 0.0087) of 0.0100 allowed, n 300", from a gate's task.
std::string task_words(const Json& task);
/// "p50 7.14 ms, p90 8.56 ms (at most 9.01 ms with 99 %), of 135 timings": the tail only where there is a bound for it.
std::string latency_words(const LatencySummary& latency);
/// "busy for 1.02 ms of the median inference, 8 MiB of its own memory": what an accelerator says of itself.
std::string accelerator_words(const AcceleratorSummary& accelerator);
/// ", 1.79 to 1.85": the smallest and largest of the sessions; empty for fewer than two.
std::string range_words(std::span<const double> ratios);
/// The last line that says something: engines put the place where they failed first, and what failed last.
std::string one_line(std::string_view reason);
/// The run's folder as one would type it here.
std::string typed_path(const std::filesystem::path& path);

}  // namespace fiel
