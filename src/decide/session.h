// A session: fresh processes of some candidates, started in random order, probed, timed in interleaved rounds. The unit of
// evidence everywhere: a process keeps a private offset (layout, allocation, core), so rounds inside one are no
// independent evidence (methodology A4).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

struct SessionEntry {
  int id = 0;
  std::optional<double> log_ratio;  // against the first candidate of the session
  std::optional<CandidateStatus> fallen;  // failed or unfaithful in this session
  std::string reason;
};

struct SessionView {
  std::vector<SessionEntry> entries;  // as the ids came
  int rounds = 0;
  int rejected_rounds = 0;
  double seconds = 0;
};

/// May the next session start? Asked before each, with the journal's time.
using TimeLeft = std::function<bool()>;

/// Runs (or recalls) session `key` of event type `type` over `ids`; ids[0] is what the others are compared with. If that
/// one fails twice, the run stops with an error and can be resumed. `finish` may add to the record.
Result<SessionView> run_session(Lab& lab, const std::string& key, const std::string& type, const std::vector<int>& ids,
                                const std::function<Result<>(Json& body, const SessionView& view, std::vector<Live>& live)>&
                                    finish = {});

}  // namespace fiel
