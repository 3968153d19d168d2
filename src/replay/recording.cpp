#include "replay/recording.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <set>

#include "base/files.h"
#include "base/numbers.h"

namespace fiel {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

// zlib reads files that are not compressed as they are.
Result<std::string> read_unpacked(const std::filesystem::path& path) {
  if (std::error_code code; !std::filesystem::is_regular_file(path, code)) {
    return fail(ErrorKind::kUsage, fmt::format("no recording at {}", path.string()), "name a .json, .json.gz, .csv or .jsonl file");
  }
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::unexpected(file_error("read", path, errno));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int got = 0;
  while ((got = gzread(file, buffer.data(), buffer.size())) > 0 && text.size() <= kMostBytes) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const bool is_whole = gzclose(file) == Z_OK && got == 0;
  if (!is_whole) return fail(ErrorKind::kUsage, fmt::format("cannot unpack {}: damaged, cut short or more than 1 GiB", path.string()));
  return text;
}

// Names and values of routes hold no blanks or []|.
std::string plain(std::string text) {
  std::ranges::replace_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) || c == '[' || c == ']' || c == '|' || c == '='; }, '_');
  return text.empty() ? "_" : text;
}

void sort_values(std::vector<std::string>& values) {
  if (std::ranges::all_of(values, [](const std::string& value) { return number_from<double>(value).has_value(); })) {
    std::ranges::stable_sort(values, std::ranges::less{}, [](const std::string& value) { return *number_from<double>(value); });
  } else {
    std::ranges::stable_partition(values, [](const std::string& value) { return value == kLeftOut; });
  }
}

// A knob's values over all records of its engine.
std::vector<EngineSpace> engines_of(const std::vector<RawRecord>& raw) {
  std::vector<EngineSpace> engines;
  std::map<std::string, std::int64_t> records;  // per engine
  std::map<std::pair<std::string, std::string>, std::int64_t> seen;  // per engine and knob
  for (const RawRecord& record : raw) {
    ++records[record.engine];
    auto engine = std::ranges::find(engines, record.engine, &EngineSpace::engine);
    if (engine == engines.end()) engine = engines.insert(engines.end(), {.engine = record.engine, .knobs = {}, .forbidden = {}});
    for (const auto& [name, value] : record.settings) {
      auto knob = std::ranges::find(engine->knobs, name, &Knob::name);
      if (knob == engine->knobs.end()) {
        knob = engine->knobs.insert(engine->knobs.end(), Knob{.name = name, .values = {}, .default_value = {}, .help = {}, .only_if = {}});
      }
      if (std::ranges::find(knob->values, value) == knob->values.end()) knob->values.push_back(value);
      ++seen[{record.engine, name}];
    }
  }
  for (EngineSpace& engine : engines) {
    for (Knob& knob : engine.knobs) {
      const bool is_everywhere = seen[{engine.engine, knob.name}] == records[engine.engine];
      if (!is_everywhere && std::ranges::find(knob.values, kLeftOut) == knob.values.end()) knob.values.push_back(kLeftOut);
      sort_values(knob.values);
      knob.default_value = knob.values.front();
    }
    std::erase_if(engine.knobs, [](const Knob& knob) { return knob.values.size() < 2; });
  }
  return engines;
}

}  // namespace

Result<Recording> make_recording(std::string name, std::vector<RawRecord> raw) {
  for (RawRecord& record : raw) {
    record.engine = plain(std::move(record.engine));
    for (auto& [knob, value] : record.settings) {
      knob = plain(std::move(knob));
      value = plain(std::move(value));
    }
  }
  Recording recording{.name = std::move(name), .space = FIEL_TRY(Space::create(engines_of(raw))), .default_route = {}, .records = {}, .repeated = 0};
  std::vector<BuildRoute> routes;
  std::int64_t measured = 0;
  for (const RawRecord& record : raw) {
    BuildRoute route{.engine = record.engine, .settings = {}};
    for (const auto& [knob, value] : record.settings) {
      if (recording.space.find_knob(route.engine, knob) != nullptr) route.settings.emplace(knob, value);
    }
    route = recording.space.canonical(std::move(route));
    if (!recording.records.emplace(route, record.recorded).second) {
      ++recording.repeated;
      continue;
    }
    routes.push_back(route);
    if (!record.recorded.value) continue;
    if (record.recorded.found()) ++measured;
    if (!(*record.recorded.value > 0) || !std::isfinite(*record.recorded.value)) {
      return fail(ErrorKind::kUsage, fmt::format("'{}' has the value {}", to_string(route), *record.recorded.value),
                  "values are costs: finite and above zero");
    }
  }
  if (measured < 2) return fail(ErrorKind::kUsage, fmt::format("{} admissible configurations with a value: nothing to search", measured));
  recording.space = FIEL_TRY(recording.space.only(std::move(routes)));
  return recording;
}

Result<Recording> read_recording(const std::filesystem::path& path) {
  std::string file = path.filename().string();
  if (file.ends_with(".gz")) file.resize(file.size() - 3);
  const std::string kind = std::filesystem::path(file).extension().string();
  const std::string name = std::filesystem::path(file).stem().string();
  const auto read = [&](auto parse) -> Result<Recording> {
    return make_recording(name, FIEL_TRY(parse(FIEL_TRY(read_unpacked(path)))));
  };
  Result<Recording> recording = fail(ErrorKind::kUsage, "of no kind that is known", "name a .json, .json.gz, .csv or .jsonl file");
  if (kind == ".json") recording = read(parse_t4);
  if (kind == ".csv") recording = read(parse_csv);
  if (kind == ".jsonl") {
    recording = read(parse_own);
    // Our recordings leave out what stands at the engine's default; the first line is the plain default.
    if (recording) recording->default_route = recording->space.nearest_valid({recording->space.engines().front().engine, {}});
  }
  if (!recording) return std::unexpected(std::move(recording).error().with_context(path.filename().string()));
  return recording;
}

}  // namespace fiel
