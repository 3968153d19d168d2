#include "journal/journal.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/digest.h"

namespace fiel {
namespace {

constexpr const char* kSchema = R"sql(
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE event(
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, type TEXT NOT NULL, utc TEXT NOT NULL,
    spent_seconds REAL NOT NULL, body TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
  CREATE TABLE series(
    event INTEGER NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(event, name)) STRICT;
)sql";

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

std::unexpected<Error> sqlite_error(sqlite3* db, const std::filesystem::path& file) {
  const int code = sqlite3_errcode(db);
  const std::string words = fmt::format("{}: {}", file.string(), sqlite3_errmsg(db));
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return fail(ErrorKind::kCorrupt, words, "the journal is damaged; restore it from a copy, or start a new run");
  }
  if (code == SQLITE_FULL) {
    return fail(ErrorKind::kEnvironment, words, "free some disk space, then `fiel resume` this run");
  }
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM) {
    return fail(ErrorKind::kEnvironment, words, "check the folder's permissions");
  }
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return fail(ErrorKind::kEnvironment, words, "another program has this journal open");
  }
  return fail(ErrorKind::kEnvironment, words);
}

std::string text_column(sqlite3_stmt* statement, int column) {
  const unsigned char* text = sqlite3_column_text(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

void bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The checksum of a row, chained to the one before it. Series come in the order of their names.
class RowDigest {
 public:
  RowDigest(std::string_view previous, const Event& event) {
    digest_.field(previous).field(fmt::format("{}", event.number)).field(event.key).field(event.type);
    digest_.field(event.utc).field(fmt::format("{}", event.spent_seconds)).field(event.body);
  }
  void add(std::string_view name, std::string_view bytes) { digest_.field(name).field(bytes); }
  std::string hex() { return digest_.hex(); }

 private:
  Sha256 digest_;
};

std::string checksum_of(std::string_view previous, const Event& event, const Series& series) {
  RowDigest digest(previous, event);
  for (const auto& [name, values] : series) digest.add(name, bytes_of(values));
  return digest.hex();
}

// A view that holds until the statement is stepped.
std::string_view bytes_column(sqlite3_stmt* statement, int column) {
  const void* bytes = sqlite3_column_blob(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), size);
}

}  // namespace

struct Journal::Impl {
  std::filesystem::path file;
  Database db;
  std::vector<Event> events;
  std::unordered_map<std::string, std::size_t> index;
  std::string last_checksum;

  Result<Statement> prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
      return sqlite_error(db.get(), file);
    }
    return Statement(statement);
  }
  Result<> execute(const char* sql) const {
    if (sqlite3_exec(db.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return sqlite_error(db.get(), file);
    }
    return {};
  }
  Result<> step_done(sqlite3_stmt* statement) const {
    if (sqlite3_step(statement) != SQLITE_DONE) return sqlite_error(db.get(), file);
    return {};
  }
  Result<Series> read_series(std::int64_t number) const;
  Result<> read_all();
  Result<> check_format() const;
  Result<> insert(const Event& event, const Series& series, const std::string& checksum) const;
};

Result<Series> Journal::Impl::read_series(std::int64_t number) const {
  auto statement = FIEL_TRY(prepare("SELECT name, data FROM series WHERE event = ? ORDER BY name"));
  sqlite3_bind_int64(statement.get(), 1, number);
  Series series;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 1));
    std::vector<double> values(size / sizeof(double));
    if (!values.empty()) {
      std::memcpy(values.data(), sqlite3_column_blob(statement.get(), 1), values.size() * sizeof(double));
    }
    series.emplace(text_column(statement.get(), 0), std::move(values));
  }
  if (code != SQLITE_DONE) return sqlite_error(db.get(), file);
  return series;
}

Result<> Journal::Impl::check_format() const {
  auto statement = FIEL_TRY(prepare("SELECT value FROM meta WHERE key = 'format'"));
  if (sqlite3_step(statement.get()) != SQLITE_ROW) {
    return fail(ErrorKind::kCorrupt, fmt::format("{}: not a journal of fiel", file.string()));
  }
  const std::string format = text_column(statement.get(), 0);
  if (format != fmt::format("{}", kJournalFormat)) {
    return fail(ErrorKind::kCorrupt,
                fmt::format("{}: journal format {}, this fiel reads {}", file.string(), format, kJournalFormat),
                "use the fiel that made this run");
  }
  return {};
}

// All series in one pass beside the events: a query for each event would look its rows up in a tree that grows with the run.
Result<> Journal::Impl::read_all() {
  FIEL_TRY(check_format());
  FIEL_TRY(execute("BEGIN"));  // another process may be writing: both statements see one state
  auto statement = FIEL_TRY(
      prepare("SELECT number, key, type, utc, spent_seconds, body, checksum FROM event ORDER BY number"));
  auto series = FIEL_TRY(prepare("SELECT event, name, data FROM series ORDER BY event, name"));
  int code = SQLITE_ROW, series_code = sqlite3_step(series.get());
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    Event event{.number = sqlite3_column_int64(statement.get(), 0),
                .key = text_column(statement.get(), 1),
                .type = text_column(statement.get(), 2),
                .utc = text_column(statement.get(), 3),
                .spent_seconds = sqlite3_column_double(statement.get(), 4),
                .body = text_column(statement.get(), 5)};
    RowDigest digest(last_checksum, event);
    for (; series_code == SQLITE_ROW && sqlite3_column_int64(series.get(), 0) == event.number; series_code = sqlite3_step(series.get())) {
      digest.add(bytes_column(series.get(), 1), bytes_column(series.get(), 2));
    }
    std::string checksum = digest.hex();
    const auto expected = static_cast<std::int64_t>(events.size()) + 1;
    if (event.number != expected || checksum != bytes_column(statement.get(), 6)) {
      return fail(ErrorKind::kCorrupt,
                  fmt::format("{}: event {} ({}) is damaged or was edited", file.string(), event.number, event.key),
                  "restore the run folder from a copy, or start a new run");
    }
    last_checksum = std::move(checksum);
    index.emplace(event.key, events.size());
    events.push_back(std::move(event));
  }
  if (code != SQLITE_DONE || (series_code != SQLITE_DONE && series_code != SQLITE_ROW)) return sqlite_error(db.get(), file);
  if (series_code == SQLITE_ROW) {
    return fail(ErrorKind::kCorrupt,
                fmt::format("{}: there are timings of event {}, which is not there", file.string(), sqlite3_column_int64(series.get(), 0)),
                "restore the run folder from a copy, or start a new run");
  }
  statement.reset();
  series.reset();
  return execute("COMMIT");
}

Result<> Journal::Impl::insert(const Event& event, const Series& series, const std::string& checksum) const {
  auto row = FIEL_TRY(prepare("INSERT INTO event VALUES(?, ?, ?, ?, ?, ?, ?)"));
  sqlite3_bind_int64(row.get(), 1, event.number);
  bind_text(row.get(), 2, event.key);
  bind_text(row.get(), 3, event.type);
  bind_text(row.get(), 4, event.utc);
  sqlite3_bind_double(row.get(), 5, event.spent_seconds);
  bind_text(row.get(), 6, event.body);
  bind_text(row.get(), 7, checksum);
  FIEL_TRY(step_done(row.get()));
  for (const auto& [name, values] : series) {
    auto blob = FIEL_TRY(prepare("INSERT INTO series VALUES(?, ?, ?)"));
    sqlite3_bind_int64(blob.get(), 1, event.number);
    bind_text(blob.get(), 2, name);
    const std::string bytes = bytes_of(values);
    sqlite3_bind_blob(blob.get(), 3, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
    FIEL_TRY(step_done(blob.get()));
  }
  return {};
}

namespace {

Result<Database> open_database(const std::filesystem::path& file, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  Database db(raw);
  if (code != SQLITE_OK) return sqlite_error(raw, file);
  sqlite3_busy_timeout(raw, 5'000);
  return db;
}

}  // namespace

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::create(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) {
    return fail(ErrorKind::kUsage, fmt::format("{} exists already", file.string()),
                "`fiel resume` goes on with it; or name another folder with -o");
  }
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  const auto made = [&]() -> Result<> {
    impl->db = FIEL_TRY(open_database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    FIEL_TRY(impl->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE;"));
    FIEL_TRY(impl->execute(kSchema));
    return impl->execute(fmt::format("INSERT INTO meta VALUES('format', '{}'); COMMIT;", kJournalFormat).c_str());
  }();
  if (!made) {  // half a journal would be taken for a run
    impl->db.reset();
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + end, ignored);
    return std::unexpected(made.error());
  }
  return Journal(std::move(impl));
}

Result<Journal> Journal::open(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    return fail(ErrorKind::kUsage, fmt::format("{}: no such file", file.string()), "name the folder of a run");
  }
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  impl->db = FIEL_TRY(open_database(file, SQLITE_OPEN_READWRITE));
  FIEL_TRY(impl->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  FIEL_TRY(impl->read_all());
  return Journal(std::move(impl));
}

Result<Journal> Journal::open_read_only(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    return fail(ErrorKind::kUsage, fmt::format("{}: no such file", file.string()), "name the folder of a run");
  }
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  impl->db = FIEL_TRY(open_database(file, SQLITE_OPEN_READONLY));
  FIEL_TRY(impl->read_all());
  return Journal(std::move(impl));
}

const std::vector<Event>& Journal::events() const { return impl_->events; }

const Event* Journal::find(std::string_view key) const {
  const auto found = impl_->index.find(std::string(key));
  return found == impl_->index.end() ? nullptr : &impl_->events[found->second];
}

Result<Json> Journal::body(std::string_view key) const {
  const Event* event = find(key);
  if (event == nullptr) return fail(ErrorKind::kCorrupt, fmt::format("the journal has no event {}", key));
  return parse_json(event->body);
}

Result<> Journal::append(std::string_view key, std::string_view type, const Json& body, double spent_seconds,
                         const Series& series) {
  FIEL_CHECK(find(key) == nullptr);
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  Event event{.number = static_cast<std::int64_t>(impl_->events.size()) + 1,
              .key = std::string(key),
              .type = std::string(type),
              .utc = fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", now),
              .spent_seconds = spent_seconds,
              .body = dump_json(body)};
  const std::string checksum = checksum_of(impl_->last_checksum, event, series);
  FIEL_TRY(impl_->execute("BEGIN IMMEDIATE"));
  if (auto inserted = impl_->insert(event, series, checksum); !inserted) {
    (void)impl_->execute("ROLLBACK");
    return std::unexpected(std::move(inserted).error());
  }
  if (auto committed = impl_->execute("COMMIT"); !committed) {
    (void)impl_->execute("ROLLBACK");
    return std::unexpected(std::move(committed).error());
  }
  impl_->last_checksum = checksum;
  impl_->index.emplace(event.key, impl_->events.size());
  impl_->events.push_back(std::move(event));
  return {};
}

Result<Series> Journal::series(std::int64_t event_number) const { return impl_->read_series(event_number); }

}  // namespace fiel
