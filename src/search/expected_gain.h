// What may be expected of a trial whose log time is believed to be normal, against the best log time so far? Pure functions.
//
//   z = (best - mean) / deviation;  expected fall of the logarithm: (best - mean) Phi(z) + deviation phi(z)
#pragma once

namespace fiel {

struct Believed {
  double mean = 0;
  double deviation = 1;
};

/// ln of the expected fall of log time, also far out in the tail, where the fall itself is no number any more.
double log_expected_improvement(double best, const Believed& time);

/// E[max(0, 1 - t / t_best)]: the share of the best one's time that is saved. With nothing known but a deviation of 0.1 around
/// the best it is 0.0375, a little less than the fall of the logarithm, 0.0399.
double expected_share(double best, const Believed& time);

}  // namespace fiel
