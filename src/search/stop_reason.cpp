#include "search/stop_reason.h"

#include <algorithm>

namespace fiel {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kExhausted: return "exhausted";
    case StopReason::kBreakEven: return "break_even";
    case StopReason::kPlateau: return "plateau";
    case StopReason::kBudget: return "budget";
    case StopReason::kPhaseLimit: return "phase_limit";
    case StopReason::kCandidates: return "candidates";
    case StopReason::kDisk: return "disk";
    case StopReason::kImported: return "imported";
  }
  return "unknown";
}

std::optional<StopReason> parse_stop_reason(std::string_view name) {
  const auto found = std::ranges::find(kStopReasons, name, [](StopReason reason) { return to_string(reason); });
  return found == kStopReasons.end() ? std::nullopt : std::optional(*found);
}

std::string_view stop_reason_words(StopReason reason) {
  switch (reason) {
    case StopReason::kExhausted: return "nothing was left to try";
    case StopReason::kBreakEven: return "no candidate was expected to save what trying it costs";
    case StopReason::kPlateau: return "no candidate was expected to gain enough";
    case StopReason::kBudget: return "its share of the budget was spent";
    case StopReason::kPhaseLimit: return "its limit in [budget.phases] was reached";
    case StopReason::kCandidates: return "the limit of candidates was reached";
    case StopReason::kDisk: return "the limit of disk space was reached";
    case StopReason::kImported: return "what another tuner had recorded ended";
  }
  return "unknown";
}

}  // namespace fiel
