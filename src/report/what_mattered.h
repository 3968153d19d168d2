// Which knobs made the difference in this run, so that a user knows which three settings to copy to the next model? Shares
// of the variance of log latency, per knob and per pair, of a model fitted to every candidate that was timed
// (stats/variance_shares.h has the formula); and each setting's typical effect as a ratio of times.
//
// One answer per engine: a knob of one engine says nothing of another. Accuracy plays no part in the shares (a wrong answer
// took its time too); but only settings of admissible candidates are there to be copied. Nothing is a claim.
#pragma once

#include <string>
#include <vector>

#include "report/view.h"

namespace fiel {

struct LevelEffect {
  std::string value;   // kLeftOut: the engine's default
  double ratio = 1;    // times as fast as the knob's `reference` level, on average over the settings beside it
  int candidates = 0;  // timed with it
  int admissible = 0;  // of these
};

struct KnobEffect {
  std::string knob;
  double share = 0;                // of the fitted variance, alone
  std::string reference;           // the comparator's level, else the default
  std::vector<LevelEffect> levels; // fastest first
};

struct PairEffect {
  std::string first, second;
  double share = 0;
};

struct Setting {
  std::string knob, value;
  double ratio = 1;
};

struct WhatMattered {
  std::string engine;
  int candidates = 0;               // timed ones
  std::string too_little;           // why nothing is said; then what follows is empty
  double unexplained = 0;           // share of the variance that the model does not foretell on candidates it has not seen
  std::vector<KnobEffect> knobs;    // greatest share first
  std::vector<PairEffect> pairs;    // greatest share first; those below a per cent are left out
  std::vector<Setting> to_copy;     // at most three, of the greatest shares that gain something
};

inline constexpr std::string_view kDefaultLevel = "default";

/// A few tenths of a second where hundreds were timed.
std::vector<WhatMattered> what_mattered(const RunView& view);

}  // namespace fiel
