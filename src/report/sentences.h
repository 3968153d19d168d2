// What a report says of a whole run, in sentences: one wording for the terminal and for the page.
#pragma once

#include <string>

#include "report/view.h"

namespace fiel {

/// "not_improved" -> "not improved".
std::string spaced(std::string word);

/// "not improved"; "no verdict yet" while the run goes on.
std::string verdict_word(const RunView& view);
/// Behind that word: "#4 is 1.83 times as fast as …, proven on 1000 hold-out samples."; how far a run without a verdict has come.
std::string verdict_sentence(const RunView& view);
/// What else is to be said at once: how near the best was, what ships until it is decided. Often empty.
std::string verdict_remark(const RunView& view);
/// An inadmissible baseline and what must be beaten instead; empty where the baseline is fine.
std::string baseline_warning(const RunView& view);
/// How the proof of one nominee went.
std::string outcome_words(const NomineeView& nominee);
/// "after 27,462 executions: 2 min 39 s of tuning against 5.8 ms saved by each …"; view.break_even must be there.
std::string break_even_words(const RunView& view);
/// "2 min 39 s of 15 min; the search ended when its share of the budget was spent".
std::string spent_words(const RunView& view);
/// "AMD EPYC 9V45 (2 cores), openvino 2026.4.1".
std::string measured_on_words(const RunView& view);
/// "rec.onnx: single_stream, latency_p50; 480 tuning and 1000 hold-out samples".
std::string measured_for_words(const RunView& view);

}  // namespace fiel
