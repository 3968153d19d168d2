// Progress on stderr: on a terminal a status line that overprints itself under the lines that stay, elsewhere plain lines.
#pragma once

#include <chrono>
#include <string>

#include "decide/progress.h"

namespace fiel {

class StderrProgress : public ProgressSink {
 public:
  StderrProgress();
  ~StderrProgress() override;
  void stage(std::string_view name, std::string_view detail) override;
  void step(std::string_view text) override;
  void status(std::string_view text) override;
  void warn(std::string_view text) override;

 private:
  void line(std::string_view text);
  void clear_status();

  bool terminal_;
  bool status_shown_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point started_at_;
  std::chrono::steady_clock::time_point status_at_;
};

}  // namespace fiel
