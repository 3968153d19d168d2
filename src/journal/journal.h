// The record of a run: an append-only list of events in SQLite, the only truth that resume, show, report and export read.
//
// Knows nothing of what events mean. An event has a key that is unique in the run ("candidate/12/tried"), so that a
// pipeline which asks "is this done?" before doing it can be killed anywhere and walked again from the start. Each
// row carries a checksum chained over all rows before it; a damaged, missing or edited row is refused.
//
//   spent_seconds   working time of the run when the event ended, summed over all processes that worked on it
//   series          named lists of raw numbers (latencies in seconds) that belong to an event, kept bit by bit
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fiel {

inline constexpr int kJournalFormat = 1;

struct Event {
  std::int64_t number = 0;  // 1, 2, 3, ...
  std::string key;
  std::string type;
  std::string utc;
  double spent_seconds = 0;
  std::string body;  // JSON text
};

using Series = std::map<std::string, std::vector<double>>;

class Journal {
 public:
  /// A new journal; the file must not exist yet.
  static Result<Journal> create(const std::filesystem::path& file);
  /// An existing one, every checksum verified. A newer format, a torn or an edited row is kCorrupt.
  static Result<Journal> open(const std::filesystem::path& file);
  /// For readers beside a run that is still going.
  static Result<Journal> open_read_only(const std::filesystem::path& file);

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  const std::vector<Event>& events() const;
  const Event* find(std::string_view key) const;
  Result<Json> body(std::string_view key) const;

  /// Durable (fsync) before it returns. A key that exists is a bug of ours.
  Result<> append(std::string_view key, std::string_view type, const Json& body,
                  double spent_seconds, const Series& series = {});

  Result<Series> series(std::int64_t event_number) const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fiel
