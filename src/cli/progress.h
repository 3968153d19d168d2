// Progress on stderr: on a terminal a status line that overprints itself under the lines that stay, elsewhere plain lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "decide/progress.h"

namespace fiel {

/// What a status line says, the most important first, since it is cut at the terminal's width.
struct StatusParts {
  std::string_view stage;
  std::optional<double> left_seconds;
  double wall_seconds = 0;
  std::string_view best;    // of best_so_far()
  std::string_view detail;  // what is under way
};
std::string status_line(const StatusParts& parts);

class StderrProgress : public ProgressSink {
 public:
  StderrProgress();
  ~StderrProgress() override;
  void stage(std::string_view name, std::string_view detail) override;
  void step(std::string_view text) override;
  void status(std::string_view text) override;
  void warn(std::string_view text) override;
  void recorded(const Standing& standing) override;
  void budget(const TimeBudget& budget) override;

 private:
  void line(std::string_view text);
  void clear_status();
  void draw_status();

  bool terminal_;
  bool status_shown_ = false;
  std::string stage_, detail_, best_;
  std::optional<TimeBudget> budget_;  // as it was at budget_at_
  std::chrono::steady_clock::time_point budget_at_;
  std::chrono::steady_clock::time_point started_at_;
  std::chrono::steady_clock::time_point status_at_;
};

}  // namespace fiel
