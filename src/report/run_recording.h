// A run as a recording: every candidate that came to an end, with its cost, its time and why it has no cost. `fiel replay`
// reads it back as a space of its own.
#pragma once

#include <vector>

#include "replay/write_recording.h"
#include "report/view.h"

namespace fiel {

/// Costs are comparable over the run, although its sessions lie hours apart: the comparator's time over the candidate's
/// ratio to it (median of the race's sessions, else the first look). A duplicate has its twin's outcome and cost. Whoever
/// was not tried to an end is left out.
std::vector<Written> recording_of(const RunView& view);

/// T4's word for what became of a candidate: "correct", "correctness", "compile", ...
std::string_view invalidity_of(CandidateStatus status);

}  // namespace fiel
