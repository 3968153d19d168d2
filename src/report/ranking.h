// In which order, under which words, do candidates stand in a table? The same for the terminal and the page.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/view.h"

namespace fiel {

/// Is the contract about items a second rather than the time of one?
bool by_throughput(const RunView& view);

/// All of them: admissible before the others, fastest first; the comparator is 1 by definition.
std::vector<const CandidateView*> ranked(const RunView& view);

/// "ships, baseline", "equal", "wrong slice".
std::string marks_of(const RunView& view, const CandidateView& candidate);

/// "7.14 ms" (p50) or "133.5/s", by what the contract is about; "-" where it was not timed.
std::string speed_cell(const RunView& view, const CandidateView& candidate);

struct Spread {
  double low = 1, high = 1;
};
/// The winner's interval, else the range of the race's sessions; absent for the comparator and for a single session.
std::optional<Spread> spread_of(const RunView& view, const CandidateView& candidate);

/// "9 candidates: 4 admissible, 1 inadmissible".
std::string counts_words(const RunView& view);

/// All that are not admissible, by kind, the most frequent kind first.
using CandidateGroup = std::vector<const CandidateView*>;
std::vector<std::pair<std::string, CandidateGroup>> groups_of(const RunView& view);
/// What a group's kind means; `tried` is no end while the run goes on.
std::string_view group_words(const std::string& kind, const CandidateGroup& group);
bool is_waiting(const std::string& kind, const CandidateGroup& group);

}  // namespace fiel
