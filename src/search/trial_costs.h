// How long will a trial take, at most? By what those of its kind (engine and variant) took before: nine in ten took no longer.
// So that none is started that can't be paid. Of a kind that was not seen yet, all trials tell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/strategy.h"

namespace fiel {

class TrialCosts {
 public:
  explicit TrialCosts(double first_guess_seconds) : first_guess_seconds_(first_guess_seconds) {}

  void tell(const Trial& trial);
  double at_most_seconds(const BuildRoute& route) const;

 private:
  double first_guess_seconds_;
  std::vector<double> all_;  // ascending, and each of these
  std::map<std::string, std::vector<double>> by_kind_;
};

}  // namespace fiel
