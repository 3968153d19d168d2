// What is there to show of each candidate? Its standing, and what only the events' bodies hold: effective settings,
// accuracy in full, failures, ports.
#pragma once

#include <map>

#include "base/json.h"
#include "decide/standing.h"
#include "report/view.h"

namespace fiel {

/// Gathers event by event, in the journal's order.
class CandidateReader {
 public:
  void take(const Event& event, const Json& body);
  /// Completed by the standing; `run` gives the stage, the verdict and the contract's path.
  std::map<int, CandidateView> finish(const Standing& standing, const RunView& run);

 private:
  void take_candidate(const Json& body);
  void take_process(const Json& entry);  // anything that one process of a candidate left

  std::map<int, CandidateView> views_;
  double spent_seconds_ = 0;  // up to the event before
  std::map<std::string, std::map<std::string, std::string>> knob_kinds_;  // engine -> knob -> kind
};

/// One of the six words of design's result document. `settled`: nothing more can happen to it in this run.
enum class Settled { kNo, kYes };
std::string_view status_word(CandidateStatus status, Settled settled);

/// 'text' as one word of a shell's command line.
std::string shell_quoted(std::string_view text);

}  // namespace fiel
