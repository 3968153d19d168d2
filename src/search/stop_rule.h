// Is it worth while to go on? Where the contract says how often the winner will run, a trial must be expected to save more than it
// costs (break-even); where it doesn't, it must be expected to gain at least a part of what the contract calls a gain (plateau).
//
//   worth_seconds V   what saving all of the comparator's time would be worth, in seconds of tuning:
//                     executions x seconds per execution x price of serving / price of tuning
//   break-even        for the best bet: V x (best's time / comparator's) x expected share saved <= expected seconds
//   plateau           for the best bet: expected share saved < kPlateauPart x min_gain, kFlatLooks times in a row, after each knob
//                     was turned, and the second half of the trials gained less than min_gain
//
// What is expected is the strategy's outlook, but never less than chance promises: the next of n draws is the best with chance
// 1/(n+1), and then by about as much as the best is ahead of the second. A model of few trials is surer than it should be. Before
// there is one, a first trial is taken to save kFirstShare. Sweeps know no plateau: who asks for one wants it whole.
// Why these, and what they cost: docs/decisions/0021-when-to-stop.md. Deterministic in what it is told; knows no clock.
#pragma once

#include <cstddef>
#include <optional>

#include "search/stop_reason.h"
#include "search/strategy.h"

namespace fiel {

class StopRule {
 public:
  struct Terms {
    std::optional<double> worth_seconds = {};
    double min_gain = 0.01;
    double first_guess_seconds = 1;  // of a trial, before one was made
  };

  explicit StopRule(const Terms& terms) : terms_(terms) {}

  /// To be asked before each trial, with the outlook as it is then.
  std::optional<StopReason> look(const std::optional<Outlook>& outlook);
  void tell(const Trial& trial);

 private:
  bool is_worth_it(double worth, const std::optional<Outlook>& outlook) const;
  bool is_flat(const Outlook& outlook) const;
  double lead() const;

  Terms terms_;
  std::optional<double> best_, second_;  // log times of admissible trials; the comparator's is 0
  double seconds_ = 0;
  std::size_t trials_ = 0, gained_at_ = 0, seen_ = 0;
  std::optional<double> mark_;  // best when it was last ahead by min_gain
  int flat_looks_ = 0;
};

/// V of the terms above. Where tuning costs nothing it is always worth it.
struct Prices {
  double executions = 0;
  double seconds_per_execution = 0;
  double serving_per_hour = 1, tuning_per_hour = 1;
};
double worth_seconds(const Prices& prices);

}  // namespace fiel
