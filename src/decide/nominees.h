// Who goes to the proof, and in which order? At most kMaxNominees, each of which costs sessions and may cost an opening of the hold-out.
#pragma once

#include <span>
#include <vector>

#include "route/build_route.h"

namespace fiel {

inline constexpr int kMaxNominees = 3;

struct Finalist {
  int id = 0;
  BuildRoute route = {};
  double to_spare = 0;                  // share of the accuracy margin, on tuning data (gate.h: margin_to_spare)
  std::vector<double> log_ratios = {};  // over the comparator, a number for each session of the race
};

/// `order`, each replaced by the plainest of `raced` that asks for nothing but some of the same settings, has no less accuracy to
/// spare, and that the race can't tell from it: it was not slower in every session, and by no more than 3 % in the median. Settings
/// that do nothing are won by chance, and are a burden to who ships them.
std::vector<Finalist> without_idle_settings(std::span<const Finalist> order, std::span<const Finalist> raced);

/// The same variant of the model on the same engine: other settings change their answers by rounding, if at all.
bool answer_alike(const BuildRoute& a, const BuildRoute& b);

/// Ids of `fastest_first` in the order in which they are worth a place in the race: after the three fastest of those that answer alike come
/// all others first. A race of one model with other flags finds one nominee, and whatever refutes that refutes its twins.
std::vector<int> twins_last(std::span<const Finalist> fastest_first);

/// `order`: those worth a proof, best first. The best goes first; then each time the best of those with more accuracy to spare than all
/// nominees so far, since the likeliest reason why those fell is one that they share with whatever answers as they do (8 bits,
/// mostly, with other flags); where there is none, the best that answers unlike them all; where there is none either, the best that is left.
std::vector<int> choose_nominees(std::span<const Finalist> order);

}  // namespace fiel
