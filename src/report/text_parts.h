// The parts of the text, in the order in which they stand. Each writes nothing where it has nothing to say.
#pragma once

#include "report/page.h"
#include "report/view.h"

namespace fiel {

enum class Detail { kBest, kAll };

void say_verdict(Page& page, const RunView& view);       // the word, its reason, what is missing
void say_flags(Page& page, const RunView& view);         // an inadmissible baseline
void say_what_ships(Page& page, const RunView& view);
void say_proof(Page& page, const RunView& view);         // nominees, sessions, hold-out
void say_break_even(Page& page, const RunView& view);
void say_candidates(Page& page, const RunView& view, Detail detail);
void say_left_out(Page& page, const RunView& view, Detail detail);
void say_nearest_misses(Page& page, const RunView& view);
void say_pareto(Page& page, const RunView& view);         // of speed, memory and accuracy
void say_what_mattered(Page& page, const RunView& view);  // knobs, pairs, and three settings to copy
void say_quality(Page& page, const RunView& view);        // what share of the space may hold better
void say_time(Page& page, const RunView& view);
void say_bounds(Page& page, const RunView& view);        // model, machine, engine, data
void say_machines(Page& page, const RunView& view);      // nodes and jobs of a fleet

}  // namespace fiel
