// Where a run tells what it does. Display only: nothing may depend on it.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

class Standing;

struct TimeBudget {
  double spent_seconds = 0;
  double wall_seconds = 0;
};

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  /// A new stage begins: "search", "up to 24 candidates".
  virtual void stage(std::string_view name, std::string_view detail) = 0;
  /// Something finished inside a stage; `text` is one line.
  virtual void step(std::string_view text) = 0;
  /// Something under way, for a terminal's status line; may be dropped.
  virtual void status(std::string_view text) = 0;
  /// What happened, why it matters, what to do.
  virtual void warn(std::string_view text) = 0;
  /// Something was recorded: a status line may show the best so far (best_so_far.h).
  virtual void recorded(const Standing&) {}
  /// What the run has spent of its time, now; from then on the clock counts. May be dropped.
  virtual void budget(const TimeBudget&) {}
};

class SilentProgress : public ProgressSink {
 public:
  void stage(std::string_view, std::string_view) override {}
  void step(std::string_view) override {}
  void status(std::string_view) override {}
  void warn(std::string_view) override {}
};

}  // namespace fiel
