#include "report/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "report/contract_terms.h"
#include "report/fields.h"
#include "report/words.h"

namespace fiel {
namespace {

// What differs without making the runs answers to different questions.
constexpr std::array<std::string_view, 3> kMayDiffer = {"target.baseline", "speed.min_gain", "speed.confidence"};

class Differences {
 public:
  void add(std::string what, const std::string& first, const std::string& second, bool blocks) {
    if (first == second) return;
    const auto shown = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    auto& list = blocks ? blocking_ : others_;
    list.push_back({.what = std::move(what), .first = shown(first), .second = shown(second), .blocks = blocks});
  }

  std::vector<Difference> take() {
    blocking_.insert(blocking_.end(), others_.begin(), others_.end());
    return std::move(blocking_);
  }

 private:
  std::vector<Difference> blocking_, others_;
};

// A value of any type in words.
std::string words_at(const Json& object, std::string_view key) {
  const Json& value = fields::member(object, key);
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string data_words(const Json& run, std::string_view set) {
  const Json& data = fields::member(fields::member(run, "data"), set);
  if (!data.is_object()) return {};
  return fmt::format("{} samples, {}", fields::integer(data, "n").value_or(0), fields::text(data, "digest").substr(0, kDigestShown));
}

std::string engine_words(const RunView& view, const std::string& name) {
  for (const EngineView& engine : view.engines) {
    if (engine.name != name) continue;
    return fmt::format("{} on {}; {}", engine.version, fmt::join(engine.devices, ", "), fmt::join(engine.cpu_features, " "));
  }
  return {};
}

void compare_questions(Differences& all, const RunSide& a, const RunSide& b, const Json& run_a, const Json& run_b) {
  all.add("model", fields::text(fields::member(run_a, "model"), "digest").substr(0, kDigestShown),
          fields::text(fields::member(run_b, "model"), "digest").substr(0, kDigestShown), true);
  for (const char* set : {"tuning", "holdout"}) {
    all.add(fmt::format("{} data", set), data_words(run_a, set), data_words(run_b, set), true);
  }
  all.add("shapes of the traffic", words_at(run_a, "shapes"), words_at(run_b, "shapes"), true);
  if (a.terms.empty() || b.terms.empty()) {
    if (a.terms.empty() && b.terms.empty()) all.add("contract", "unreadable", "unreadable too", true);
    else all.add("contract", a.terms.empty() ? "unreadable" : "readable", b.terms.empty() ? "unreadable" : "readable", true);
    return;
  }
  std::set<std::string> keys;
  for (const auto* terms : {&a.terms, &b.terms}) {
    for (const auto& [key, value] : *terms) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const auto in = [&](const RunSide& side) { return side.terms.contains(key) ? side.terms.at(key) : std::string(); };
    all.add(key, in(a), in(b), std::ranges::find(kMayDiffer, key) == kMayDiffer.end());
  }
}

void compare_places(Differences& all, const RunSide& a, const RunSide& b, const Json& run_a, const Json& run_b) {
  const Json& here = fields::member(run_a, "machine");
  const Json& there = fields::member(run_b, "machine");
  all.add("CPU", fields::text(here, "cpu"), fields::text(there, "cpu"), true);
  all.add("number of cores", words_at(here, "cores"), words_at(there, "cores"), true);
  all.add("kernel", fields::text(here, "kernel"), fields::text(there, "kernel"), false);
  std::set<std::string> engines;
  for (const RunSide* side : {&a, &b}) {
    for (const EngineView& engine : side->view.engines) engines.insert(engine.name);
  }
  for (const std::string& name : engines) {
    all.add("engine " + name, engine_words(a.view, name), engine_words(b.view, name), true);
  }
}

}  // namespace

Result<RunSide> read_side(const std::filesystem::path& folder) {
  RunSide side{.view = FIEL_TRY(read_run(folder)), .terms = {}};
  const auto text = read_text(folder / "contract.toml");
  const std::string file = side.view.contract_file;
  const auto contract = text ? parse_contract(*text, file.empty() ? folder / "contract.toml" : std::filesystem::path(file))
                             : Result<Contract>(std::unexpected(text.error()));
  if (contract) side.terms = contract_terms(*contract);
  return side;
}

bool Comparison::comparable() const {
  return std::ranges::none_of(differences, [](const Difference& one) { return one.blocks; });
}

Comparison compare_runs(const RunSide& first, const RunSide& second) {
  const Json run_a = fields::parsed(first.view.run_json);
  const Json run_b = fields::parsed(second.view.run_json);
  Differences all;
  if (!run_a.is_object() || !run_b.is_object()) {
    all.add("run", run_a.is_object() ? "begun" : "not begun", run_b.is_object() ? "begun" : "not begun", true);
    if (!run_a.is_object() && !run_b.is_object()) all.add("run", "not begun", "not begun either", true);
    return {.differences = all.take()};
  }
  compare_questions(all, first, second, run_a, run_b);
  compare_places(all, first, second, run_a, run_b);
  for (const char* key : {"fiel_version", "seed", "strategy", "routes", "candidates", "wall_seconds"}) {
    all.add(key, words_at(run_a, key), words_at(run_b, key), false);
  }
  return {.differences = all.take()};
}

}  // namespace fiel
