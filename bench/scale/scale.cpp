// fiel-scale make FILE N      a journal of N candidates, as a search leaves it: candidate, build, probe with its timings
// fiel-scale plain FILE       reads all rows of it and nothing more: the yardstick
// fiel-scale open FILE        what every reader does: rows, checksums, index
// fiel-scale resume FILE      what `fiel resume` does with them before anything new: open, and walk all steps again
// fiel-scale ask N            N questions of `auto` and as many answers, with the rule that ends a search and what a trial may cost, as
//                             a search asks them; a resumed one asks all of them anew
// One JSON line on standard output: seconds of CPU time, rows or questions, peak_kib (of this process, what it started with included).
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/numbers.h"
#include "base/rng.h"
#include "decide/standing.h"
#include "journal/record.h"
#include "search/stop_rule.h"
#include "search/strategy.h"
#include "search/trial_costs.h"

namespace fiel {
namespace {

// Of this process, on whatever core: others on the machine change it little.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double seconds_since(double start) { return cpu_seconds() - start; }

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int say(Json json, double seconds) {
  json["seconds"] = seconds;
  json["peak_kib"] = peak_kib();
  fmt::print("{}\n", json.dump());
  return 0;
}

int failed(const Error& error) {
  fmt::print(stderr, "fiel-scale: {}\n", error.message);
  return 1;
}

// Two engines of sixteen knobs of four values: 8.6e9 routes.
Space large_space() {
  std::vector<EngineSpace> engines;
  for (const char* name : {"a", "b"}) {
    EngineSpace engine{.engine = name, .knobs = {}, .forbidden = {}};
    for (int k = 0; k < 16; ++k) {
      engine.knobs.push_back({.name = fmt::format("KNOB_{:02}", k), .values = {"0", "1", "2", "3"}, .default_value = "0", .help = {}, .only_if = {}});
    }
    engines.push_back(std::move(engine));
  }
  return *Space::create(std::move(engines));
}

// Single effects and pairs of neighbouring knobs, decreasing; no two routes alike.
double log_speedup(const BuildRoute& route) {
  double sum = route.engine == "b" ? 0.05 : 0.0, before = 0, weight = 0.2;
  for (int k = 0; k < 16; ++k, weight *= 0.8) {
    const auto found = route.settings.find(fmt::format("KNOB_{:02}", k));
    const double value = found == route.settings.end() ? 0.0 : number_from<double>(found->second).value_or(0);
    sum += weight * std::sin(value + k) + 0.5 * weight * std::sin(value * before);
    before = value;
  }
  return sum;
}

Json route_json(const BuildRoute& route) { return {{"engine", route.engine}, {"settings", route.settings}, {"text", to_string(route)}}; }

Record build_of(int id) {
  const std::string digest = sha256_hex(fmt::format("artifact {}", id));
  return {.body = {{"id", id}, {"artifact", digest}, {"artifact_bytes", 14894039}, {"build_seconds", 0.41}, {"build_peak_memory_bytes", 255013888},
                   {"effective", {{"settings", {{"KNOB_00", "0"}, {"KNOB_01", "1"}}}, {"precisions", {{"f32", 120}}}, {"placement", {{"CPU", 120}}},
                                  {"graph_digest", digest}, {"ignored", Json::array()}}},
                   {"identity", digest}, {"status", "tried"}, {"reason", ""}}};
}

Record probe_of(int id, double log_ratio) {
  Record record{.body = {{"id", id}, {"load_seconds", 0.12}, {"log_ratio", log_ratio}, {"peak_memory_bytes", 159383552},
                         {"latency", {{"count", 30}, {"mean_seconds", 0.0101}, {"p50_seconds", 0.01}, {"per_second", 99.0}}},
                         {"rounds", Json::array({1, 2, 3})}, {"status", "tried"}, {"reason", ""}}};
  Rng rng(static_cast<std::uint64_t>(id));
  for (const char* name : {"1/candidate", "1/comparator", "2/candidate", "2/comparator", "3/candidate", "3/comparator"}) {
    for (int i = 0; i < 10; ++i) record.series[name].push_back(0.01 * std::exp(0.01 * rng.normal()));
  }
  return record;
}

// The steps of a search, by the recorder, as tune.cpp walks them.
Result<> walk(Recorder& recorder, int candidates) {
  const Space space = large_space();
  const auto random = FIEL_TRY(make_strategy("random", space, {"a", {}}, 1));
  for (int id = 1; id <= candidates; ++id) {
    const auto route = random->ask();
    if (!route) return fail(ErrorKind::kUsage, "the space is too small");
    FIEL_TRY(recorder.once(fmt::format("candidate/{}", id), "candidate", [&]() -> Result<Record> {
      return Record{.body = {{"id", id}, {"digest", sha256_hex(to_string(*route))}, {"route", route_json(*route)}, {"roles", Json::array()}}};
    }));
    FIEL_TRY(recorder.once(fmt::format("candidate/{}/build", id), "build", [&]() -> Result<Record> { return build_of(id); }));
    FIEL_TRY(recorder.once(fmt::format("candidate/{}/probe", id), "probe", [&]() -> Result<Record> { return probe_of(id, log_speedup(*route)); }));
  }
  return {};
}

Result<> make(const std::filesystem::path& file, int candidates) {
  Journal journal = FIEL_TRY(Journal::create(file));
  RealClock clock;
  Recorder recorder(journal, clock);
  return walk(recorder, candidates);
}

Result<std::int64_t> resume(const std::filesystem::path& file) {
  Journal journal = FIEL_TRY(Journal::open(file));
  RealClock clock;
  Standing standing;
  std::optional<Error> broken;
  Recorder recorder(journal, clock, [&](const Event& event) {
    if (auto applied = standing.apply(event); !applied) broken = applied.error();
  });
  FIEL_TRY(walk(recorder, static_cast<int>(journal.events().size() / 3)));
  if (broken) return std::unexpected(*broken);
  return std::ssize(journal.events());
}

// Copies of all rows, as a reader must have them; no checksum, no index, no JSON.
std::int64_t read_plainly(const std::filesystem::path& file) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  std::vector<std::string> cells;
  std::int64_t rows = 0;
  for (const char* sql : {"SELECT * FROM event ORDER BY number", "SELECT * FROM series ORDER BY event, name"}) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK) return -1;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      ++rows;
      for (int column = 0; column < sqlite3_column_count(statement); ++column) {
        const void* bytes = sqlite3_column_blob(statement, column);
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        cells.emplace_back(static_cast<const char*>(bytes == nullptr ? "" : bytes), size);
      }
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
  return rows;
}

int ask(int questions) {
  const Space space = large_space();
  const auto strategy = make_strategy("auto", space, {"a", {}}, 1);
  if (!strategy) return failed(strategy.error());
  TrialCosts costs(1);
  StopRule rule({.worth_seconds = 1e12});
  const auto start = cpu_seconds();
  Json windows = Json::array();  // mean seconds a question over the last tenth before 1,000, 10,000, 20,000
  double before = 0, slowest = 0;
  for (int i = 1; i <= questions; ++i) {
    const auto began = cpu_seconds();
    const auto route = (*strategy)->ask();
    if (!route || rule.look((*strategy)->outlook()) || !(costs.at_most_seconds(*route) > 0)) return 1;
    const Trial trial{.route = *route, .outcome = Trial::Outcome::kAdmissibleSoFar, .log_speedup = log_speedup(*route), .seconds = 1 + 0.001 * (i % 1000)};
    costs.tell(trial);
    rule.tell(trial);
    (*strategy)->tell(trial);
    slowest = std::max(slowest, seconds_since(began));
    for (const int mark : {1'000, 10'000, 20'000}) {
      if (i == mark - mark / 10) before = seconds_since(start);
      if (i == mark) {
        windows.push_back({{"at", mark}, {"seconds_each", (seconds_since(start) - before) / (mark / 10)}, {"seconds_so_far", seconds_since(start)},
                           {"slowest", slowest}, {"peak_kib", peak_kib()}});
      }
    }
  }
  return say({{"questions", questions}, {"windows", windows}}, seconds_since(start));
}

int main_of(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const auto number = number_from<int>(argv[argc - 1]);
  if (what == "ask" && number) return ask(*number);
  const auto start = cpu_seconds();
  if (what == "make" && argc == 4 && number) {
    const auto made = make(argv[2], *number);
    return made ? say({{"candidates", *number}}, seconds_since(start)) : failed(made.error());
  }
  if (what == "plain") {
    const std::int64_t rows = read_plainly(argv[2]);
    return say({{"rows", rows}}, seconds_since(start));
  }
  if (what == "open") {
    const auto journal = Journal::open(argv[2]);
    return journal ? say({{"events", journal->events().size()}}, seconds_since(start)) : failed(journal.error());
  }
  if (what == "resume") {
    const auto events = resume(argv[2]);
    return events ? say({{"events", *events}}, seconds_since(start)) : failed(events.error());
  }
  fmt::print(stderr, "usage: fiel-scale make FILE N | plain FILE | open FILE | resume FILE | ask N\n");
  return 2;
}

}  // namespace
}  // namespace fiel

int main(int argc, char** argv) { return fiel::main_of(argc, argv); }
