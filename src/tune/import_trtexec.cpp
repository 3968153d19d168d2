#include "tune/import_trtexec.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "journal/journal.h"
#include "route/build_route.h"
#include "search/stop_reason.h"
#include "tune/this_machine.h"
#include "tune/trtexec_cache.h"
#include "tune/version.h"

namespace fiel {
namespace {

Json run_json(const TrtexecCache& cache, const std::filesystem::path& file) {
  Json json = {{"fiel_version", kVersion}, {"run_id", sha256_hex(file.string()).substr(0, 32)}, {"seed", 0},
               {"strategy", "trtexec " + cache.search}, {"routes", ""}, {"contract_file", file.string()},
               {"model", {{"path", cache.model}, {"digest", ""}, {"opset", 0}, {"producer", ""}}},
               {"machine", to_json(ThisMachine{.cpu = "not told by the cache", .cpu_count = 0, .kernel = {}, .memory_bytes = 0})},
               {"objective", "latency_mean"}, {"scenario", "single_stream"}, {"min_gain", 0.0}, {"confidence", 0.0},
               {"claim", "this_set"}, {"device", "GPU"}, {"cores", Json::array()}, {"shapes", Json::array()},
               {"executions", nullptr}, {"candidates", nullptr}};
  json["data"]["tuning"] = {{"digest", ""}, {"n", 0}, {"slices", Json::object()}};
  json["data"]["holdout"] = json["data"]["tuning"];
  json["imported"] = {{"from", "trtexec-cache"}, {"command_line", cache.command_line}, {"tuner_version", cache.tuner_version}};
  return json;
}

// One mean is all that there is: it stands where a mean and a median do, and counts as one timing.
Json latency_json(double gpu_seconds) {
  return {{"count", 1}, {"mean_seconds", gpu_seconds}, {"p50_seconds", gpu_seconds}, {"per_second", 1 / gpu_seconds}};
}

class Importer {
 public:
  Importer(Journal& journal, const TrtexecCache& cache) : journal_(journal), cache_(cache) {}

  Result<> add(const TrtexecIteration& iteration) {
    const int id = static_cast<int>(++imported_.candidates);
    const BuildRoute route{.engine = "trtexec", .settings = iteration.settings};
    const auto [first, is_new] = by_route_.emplace(route, id);
    Json roles = Json::array();
    if (is_new && route.settings.empty()) roles = {"baseline", "default"};
    FIEL_TRY(event(fmt::format("candidate/{}", id), "candidate",
                   {{"id", id}, {"digest", sha256_hex(to_string(route))}, {"roles", roles},
                    {"route", {{"engine", route.engine}, {"settings", route.settings}, {"text", to_string(route)}}}}));
    TrtexecOutcome outcome = outcome_of(cache_, iteration);
    Json body = {{"id", id}, {"status", to_string(outcome.status)}, {"reason", outcome.reason}};
    if (outcome.status == CandidateStatus::kUndecided) {
      ++imported_.not_judged;
      if (!is_new) body.update({{"status", "duplicate"}, {"same_as", first->second}, {"reason", fmt::format("the same route as candidate {}, measured again", first->second)}});
    }
    if (iteration.gpu_seconds) {
      body["latency"] = latency_json(*iteration.gpu_seconds);
      if (!roles.empty()) base_ = {id, *iteration.gpu_seconds};
      if (base_ && base_->first != id) body["log_ratio"] = std::log(base_->second / *iteration.gpu_seconds);
    }
    FIEL_TRY(event(fmt::format("candidate/{}/probe", id), "probe", body));
    if (!base_ || base_->first != id) return {};
    return event("comparator", "comparator", {{"id", id}, {"admissible", false}, {"why", "the compiler's default route; the cache can't show that it is accurate"}});
  }

  Result<> finish() {
    FIEL_TRY(event("search/end", "search_end", {{"stop_reason", to_string(StopReason::kImported)}, {"tried", imported_.candidates},
                                                {"strategy", cache_.search}, {"space_size", static_cast<double>(imported_.candidates)}}));
    Json missing = {"speed: one mean of one process for each candidate, its warm-up in it, none of them repeated or interleaved",
                    "accuracy: the cache keeps one loss for each output and no outputs, so that there are no samples to judge by"};
    if (cache_.reference_pairs == 0) missing.push_back("accuracy: the run had no --loadRefOutputs; whatever came out passed");
    if (cache_.reference_pairs > 1) {
      missing.push_back(fmt::format("accuracy: {} reference pairs, of which each output's loss is that of the last one only", cache_.reference_pairs));
    }
    if (!cache_.threshold && cache_.reference_pairs > 0) missing.push_back("accuracy: no threshold was set");
    return event("verdict", "verdict",
                 {{"verdict", "undecided"},
                  {"reason", fmt::format("imported from a tuning cache of trtexec, which measures and proves nothing; {} of {} candidates can't be judged by it",
                                         imported_.not_judged, imported_.candidates)},
                  {"missing", missing}, {"ships", nullptr}, {"winner", nullptr},
                  {"baseline", base_ ? Json(base_->first) : Json(nullptr)}, {"comparator", base_ ? Json(base_->first) : Json(nullptr)},
                  {"baseline_admissible", false}, {"nearest_misses", Json::array()}});
  }

  const ImportedRun& imported() const { return imported_; }

 private:
  Result<> event(const std::string& key, const std::string& type, const Json& body) { return journal_.append(key, type, body, 0); }

  Journal& journal_;
  const TrtexecCache& cache_;
  ImportedRun imported_;
  std::map<BuildRoute, int> by_route_;
  std::optional<std::pair<int, double>> base_;
};

}  // namespace

Result<ImportedRun> import_trtexec_cache(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const TrtexecCache cache = FIEL_TRY(read_trtexec_cache(file));
  if (cache.iterations.empty()) return fail(ErrorKind::kUsage, fmt::format("{} has no iterations", file.string()));
  if (std::filesystem::exists(folder / "run.db")) {
    return fail(ErrorKind::kUsage, fmt::format("{} holds a run already", folder.string()), "name another folder with -o");
  }
  FIEL_TRY(ensure_folder(folder));
  const std::string text = FIEL_TRY(read_text(file));
  FIEL_TRY(write_atomic(folder / "trtexec-cache.jsonl", text));  // what all of it comes from
  Journal journal = FIEL_TRY(Journal::create(folder / "run.db"));
  FIEL_TRY(journal.append("run", "run", run_json(cache, file), 0));
  FIEL_TRY(journal.append("engine/trtexec", "engine",
                          {{"engine", "trtexec"}, {"version", "tuner " + cache.tuner_version}, {"devices", Json::array()},
                           {"cpu_features", Json::array()}, {"knobs", Json::object()}}, 0));
  Importer importer(journal, cache);
  for (const TrtexecIteration& iteration : cache.iterations) FIEL_TRY(importer.add(iteration));
  FIEL_TRY(importer.finish());
  return importer.imported();
}

}  // namespace fiel
