// Why a search ended: a closed list, for the journal, the report and whoever reads them.
//
// A search that was interrupted has not ended: its run has no reason until `fiel resume` took it to one.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace fiel {

enum class StopReason {
  kExhausted,   // nothing is left to ask
  kBreakEven,   // no candidate is expected to save, over the planned executions, what trying it costs
  kPlateau,     // no plan: no candidate is expected to gain what the contract calls a gain
  kBudget,      // the search's share of the wall time is spent, or the rest can't pay what would come next
  kPhaseLimit,  // [budget.phases] search
  kCandidates,  // [budget] candidates
  kDisk,        // [budget] disk
  kImported,    // there was no search of ours: the run was taken over from another tuner
};

inline constexpr std::array kStopReasons = {StopReason::kExhausted, StopReason::kBreakEven,  StopReason::kPlateau, StopReason::kBudget,
                                            StopReason::kPhaseLimit, StopReason::kCandidates, StopReason::kDisk,      StopReason::kImported};

std::string_view to_string(StopReason reason);
std::optional<StopReason> parse_stop_reason(std::string_view name);
/// "its share of the budget was spent": what follows "the search ended when".
std::string_view stop_reason_words(StopReason reason);

}  // namespace fiel
