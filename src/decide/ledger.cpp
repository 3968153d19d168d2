#include "decide/ledger.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdlib>

namespace fiel {
namespace {

constexpr const char* kSchema = R"sql(
  CREATE TABLE IF NOT EXISTS opening(
    holdout TEXT NOT NULL, run TEXT NOT NULL, nominee TEXT NOT NULL, number INTEGER NOT NULL,
    utc TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY(holdout, run, nominee), UNIQUE(holdout, number)) STRICT;
)sql";

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalizer>;

}  // namespace

struct Ledger::Impl {
  std::filesystem::path file;
  sqlite3* db = nullptr;
  ~Impl() { sqlite3_close(db); }

  std::unexpected<Error> error() const {
    return fail(ErrorKind::kEnvironment, fmt::format("{}: {}", file.string(), sqlite3_errmsg(db)),
                "the ledger of hold-out openings must be writable; FIEL_STATE_DIR names another folder");
  }
  Result<> execute(const char* sql) const {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
    return {};
  }
  /// First column of the first row, or nullopt when there is none.
  Result<std::optional<int>> query(const char* sql, std::initializer_list<std::string_view> arguments) const {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &raw, nullptr) != SQLITE_OK) return error();
    const Statement statement(raw);
    int index = 0;
    for (const auto& text : arguments) {
      sqlite3_bind_text(raw, ++index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    const int code = sqlite3_step(raw);
    if (code == SQLITE_DONE) return std::optional<int>();
    if (code != SQLITE_ROW) return error();
    return std::optional<int>(sqlite3_column_int(raw, 0));
  }
};

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

std::filesystem::path Ledger::default_folder() {
  if (const char* folder = std::getenv("FIEL_STATE_DIR"); folder != nullptr && *folder != '\0') return folder;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::filesystem::path(state) / "fiel";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "/" : home) / ".local/state/fiel";
}

Result<Ledger> Ledger::open(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  auto impl = std::make_unique<Impl>();
  impl->file = folder / "ledger.db";
  if (sqlite3_open(impl->file.c_str(), &impl->db) != SQLITE_OK) return impl->error();
  sqlite3_busy_timeout(impl->db, 10'000);
  FIEL_TRY(impl->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  FIEL_TRY(impl->execute(kSchema));
  return Ledger(std::move(impl));
}

Result<int> Ledger::openings(const HoldoutSet& holdout) const {
  return FIEL_TRY(impl_->query("SELECT count(*) FROM opening WHERE holdout = ?", {holdout.digest()})).value_or(0);
}

Result<Opening> Ledger::open_holdout(const HoldoutSet& holdout, std::string_view run, std::string_view nominee) {
  FIEL_TRY(impl_->execute("BEGIN IMMEDIATE"));
  auto recorded = [&]() -> Result<int> {
    const auto before = FIEL_TRY(
        impl_->query("SELECT number FROM opening WHERE holdout = ? AND run = ? AND nominee = ?",
                     {holdout.digest(), run, nominee}));
    if (before) return *before;
    FIEL_TRY(impl_->query("INSERT INTO opening(holdout, run, nominee, number) SELECT ?1, ?2, ?3, "
                          "count(*) + 1 FROM opening WHERE holdout = ?1",
                          {holdout.digest(), run, nominee}));
    return openings(holdout);
  }();
  if (!recorded) {
    (void)impl_->execute("ROLLBACK");
    return std::unexpected(std::move(recorded).error());
  }
  FIEL_TRY(impl_->execute("COMMIT"));
  return Opening(holdout.digest(), *recorded);
}

}  // namespace fiel
