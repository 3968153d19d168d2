// The word at the end of a run, and what it rests on (design.md §1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

enum class VerdictWord { kImproved, kNotImproved, kUndecided, kInfeasible };
std::string_view to_string(VerdictWord word);
std::optional<VerdictWord> parse_verdict_word(std::string_view name);

struct Verdict {
  VerdictWord word = VerdictWord::kUndecided;
  std::optional<int> ships;      // the winner, else the comparator; none when infeasible
  std::optional<int> winner;
  std::string reason;            // one sentence, with numbers
  std::vector<std::string> missing;  // undecided: what would decide it
};

/// Records the verdict with speed-up, nearest misses and flags. The same event again on a resumed run.
Result<Verdict> record_verdict(Lab& lab, const Verdict& verdict);

}  // namespace fiel
