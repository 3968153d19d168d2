// Where a run tells what it does. Display only: nothing may depend on it.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

class Standing;

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
};

class SilentProgress : public ProgressSink {
 public:
  void stage(std::string_view, std::string_view) override {}
  void step(std::string_view) override {}
  void status(std::string_view) override {}
  void warn(std::string_view) override {}
};

}  // namespace fiel
