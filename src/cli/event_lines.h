// `--json-lines`: what a run does, for other programs, one JSON object a line on stdout as it happens (docs/events.md). What people
// read goes on as before, to another sink.
//
// A run that is resumed tells from its beginning again: what is recorded is walked anew.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

#include "base/json.h"
#include "cli/exit_status.h"
#include "decide/progress.h"
#include "decide/standing.h"
#include "decide/verdict.h"

namespace fiel {

inline constexpr int kEventLinesFormat = 1;

/// What a line says of a candidate.
Json candidate_line(const CandidateState& state);

class EventLines : public ProgressSink {
 public:
  EventLines(std::FILE* out, ProgressSink& people);
  void stage(std::string_view name, std::string_view detail) override;
  void step(std::string_view text) override;
  void status(std::string_view text) override;
  void warn(std::string_view text) override;
  void recorded(const Standing& standing) override;
  void budget(const TimeBudget& budget) override;

  void begin(const std::string& folder);
  /// The last line: the verdict or what stopped the run, and the exit status.
  void end(const Result<Verdict>& verdict, ExitStatus status);
  /// Did every line go out? A reader that went away is no reason to stop a run.
  bool complete() const { return complete_; }

 private:
  // What a line would say, without the price of writing one: events come by the thousand, and candidates too.
  struct Told {
    CandidateStatus status = CandidateStatus::kTried;
    std::optional<double> screen_log_ratio, margin_left;
    std::size_t race_sessions = 0;
    double p50_seconds = 0;
    bool operator==(const Told&) const = default;
  };
  static Told told_of(const CandidateState& state);
  void write(Json line);

  std::FILE* out_;
  ProgressSink& people_;
  bool complete_ = true;
  std::chrono::steady_clock::time_point started_at_;
  std::map<int, Told> told_;
};

}  // namespace fiel
