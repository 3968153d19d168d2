// In which phase of a run does an event fall? So that every second is booked: the time between two events belongs to the
// one that ended it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "report/view.h"

namespace fiel {

/// "set_up", "build", ...: never empty; "other" for types that this version does not know.
std::string_view phase_of(std::string_view event_type);
/// Phases that took time, in the order of the flow.
std::vector<PhaseTime> time_by_phase(std::span<const Event> events);
/// For people: "accuracy on tuning data".
std::string_view phase_words(std::string_view phase);

}  // namespace fiel
