// Work on machines that may be lost under it (docs/fleet.md): what was made on one that went is made again on the next, and
// what is recorded says where it was made. Where workers run beside us, nothing of this happens.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/lab.h"
#include "journal/record.h"

namespace fiel {

using Work = std::function<Result<Record>()>;

/// Attempts at one piece of work, each where the calling thread has its machine then.
class Attempts {
 public:
  /// kAgain: that machine was lost meanwhile. Work that loses one after another is what it was the last time.
  Crew::End one(Lab& lab, const Work& work);
  /// Once there was an end.
  std::optional<Result<Record>> made = {};

 private:
  std::vector<const Place*> lost_;  // as far as it is known which
  int times_lost_ = 0;
};

/// work(), done again where its machine was lost, so that a machine costs an attempt and not a candidate; or what the crew has
/// made of this `key` ahead of its turn.
Result<Record> made_on_one_machine(Lab& lab, std::string_view key, const Work& work);

/// Recorder::once with that.
Result<Json> once_on_one_machine(Lab& lab, std::string_view key, std::string_view type, const Work& work);

/// Pieces of work that the crew does ahead of their turn; nothing where there is no crew.
class Ahead {
 public:
  explicit Ahead(Lab& lab) : lab_(lab) {}
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead();

  /// Unless it is recorded already.
  void begin(const std::string& key, Work work);
  /// Its turn: made_on_one_machine will find it.
  void take(const std::string& key);

 private:
  struct Piece {
    Crew::Ticket ticket = 0;
    Attempts attempts = {};
  };
  Lab& lab_;
  std::map<std::string, Piece> pieces_;
};

/// A worker that was just started on a machine of the fleet, if that has the engine that this run began with. What is no worker's
/// fault stops the run (lab.broken).
Outcome<std::unique_ptr<Worker>> settled(Lab& lab, const EngineHere& engine, Outcome<std::unique_ptr<Worker>> started);

}  // namespace fiel
