// The full accuracy judgement of one candidate on the tuning set, and the watch that every later process of it is kept
// under: the same artifact must go on giving the answers that it was judged by.
#pragma once

#include "decide/lab.h"
#include "decide/places.h"

namespace fiel {

/// Makes the reference's outputs and scores of the tuning set with candidate `id` (a strict float32 route), or takes them
/// from files. The reference is judged too: one that is not finite, or whose process fails, ends the run with an error.
Result<> make_reference(Lab& lab, int id);

/// The full tuning gate with rungs at 64, 256 and 1,024 samples; sets the status and keeps the gate record.
Result<> judge_on_tuning(Lab& lab, int id);
/// By the crew, before its turn.
void judge_ahead(Lab& lab, int id, Ahead& ahead);

/// Why a process is not to be trusted with a timing.
struct Unfaithful {
  CandidateStatus status = CandidateStatus::kUnstable;
  std::string reason;
};

/// Holds outputs of a later process against the gate record: the same bits pass at once; other bits are checked and
/// scored, and the loss against the candidate's own gate scores, pooled over all of its processes, must stay inside the
/// contract's margins. `entry` gets what was seen, for the journal.
Result<std::optional<Unfaithful>> check_faith(Lab& lab, int id, std::span<const SampleOutputs> outputs, Json& entry);
/// Walks the tally over a recorded entry, so that a resumed run has the same.
void recall_faith(Lab& lab, int id, const Json& entry);

/// Probes a fresh process before its timing counts: the samples that will be timed.
Result<std::optional<Unfaithful>> probe_faith(Lab& lab, Live& live, std::span<const int> samples, Json& entry);

}  // namespace fiel
