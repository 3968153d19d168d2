// What time it is. Deciding code takes a Clock&, so that tests need not wait.
#pragma once

#include <string>

namespace fiel {

/// Monotonic, since an arbitrary start. For deadlines of the moment; what decides takes a Clock&.
double steady_seconds();

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_seconds() = 0;   // monotonic, since an arbitrary start; differences only
  virtual std::string utc_now() = 0;  // "2025-01-31T23:59:59Z", for records and people
};

class RealClock : public Clock {
 public:
  double now_seconds() override;
  std::string utc_now() override;
};

/// Stands still until moved.
class FakeClock : public Clock {
 public:
  double now_seconds() override { return seconds_; }
  std::string utc_now() override;  // from 2025-01-01T00:00:00Z on
  void advance(double seconds) { seconds_ += seconds; }

 private:
  double seconds_ = 0;
};

}  // namespace fiel
