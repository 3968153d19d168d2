// Durable steps: a pipeline walks its steps in a fixed order, and each is done once in the life of a run.
//
// The first walk does the work and records it; a later walk (after a kill) finds the record and goes on from there.
// So `tune` and `resume` are the same code. For the second walk to take the same turns, everything that decides must
// come out of records: results through once(), and time through spent_seconds(), which stands still between events.
#pragma once

#include <functional>
#include <string_view>

#include "base/clock.h"
#include "journal/journal.h"

namespace fiel {

/// What a step leaves behind.
struct Record;

class Recorder {
 public:
  using Observer = std::function<void(const Event&)>;  // called for each event walked, recorded or fresh

  Recorder(Journal& journal, Clock& clock, Observer observer = {});

  /// The recorded body of `key`, or that of work(), which is on disk before it is returned. An error of work()
  /// (cancelled, disk full) is passed on and records nothing.
  Result<Json> once(std::string_view key, std::string_view type, const std::function<Result<Record>()>& work);

  bool recorded(std::string_view key) const { return journal_.find(key) != nullptr; }

  /// Working seconds of the run up to the last event walked: the same in every walk.
  double spent_seconds() const { return spent_seconds_; }
  /// The same up to now; for progress lines and deadlines only, never for decisions.
  double live_seconds() const;
  /// Work that was done before there was a recorder: it belongs to the next event.
  void count_in(double seconds) { before_this_process_ += seconds; }

  const Journal& journal() const { return journal_; }

 private:
  Journal& journal_;
  Clock& clock_;
  Observer observer_;
  double spent_seconds_ = 0;
  double before_this_process_ = 0;  // what earlier processes of this run spent
  double started_at_ = 0;
};

}  // namespace fiel
