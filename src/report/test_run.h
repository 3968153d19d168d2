// For tests only: runs written by hand, event by event, with bodies as the deciding code writes them. The story is one of
// a text recogniser on a CPU whose default precision is bf16.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/digest.h"
#include "journal/journal.h"
#include "model/test_folder.h"
#include "report/view.h"

namespace fiel {

class TestRun {
 public:
  using Settings = std::map<std::string, std::string>;

  explicit TestRun(const std::filesystem::path& folder)
      : folder_(folder), journal_(Journal::create(folder / "run.db").value()) {
    std::ofstream(folder / "contract.toml") << "fiel = 1\n[model]\npath = \"/models/rec.onnx\"\n";
  }

  void event(const std::string& key, const std::string& type, const Json& body, double seconds) {
    spent_ += seconds;
    ASSERT_TRUE(journal_.append(key, type, body, spent_).has_value()) << key;
  }

  void begin(const Json& changes = Json::object()) {
    Json body = {{"fiel_version", "0.1.0"}, {"run_id", "5f0c3a"}, {"seed", 1}, {"strategy", "auto"}, {"routes", ""},
                 {"contract_file", "/models/contract.toml"}, {"objective", "latency_p50"},
                 {"scenario", "single_stream"}, {"min_gain", 0.01}, {"confidence", 0.95}, {"wall_seconds", 900.0},
                 {"executions", nullptr}, {"claim", "future_data"}, {"device", "CPU"}, {"cores", {0, 1}}};
    body["model"] = {{"path", "/models/rec.onnx"}, {"digest", std::string(64, 'a')}, {"opset", 11}, {"producer", "paddle"}};
    body["data"]["tuning"] = {{"n", 480}, {"digest", std::string(64, 'b')}, {"slices", {{"clean", 180}, {"small", 300}}}};
    body["data"]["holdout"] = {{"n", 1000}, {"digest", std::string(64, 'c')}, {"slices", {{"clean", 400}, {"small", 600}}}};
    body["machine"] = {{"cpu", "AMD EPYC 9V45"}, {"cores", 2}, {"kernel", "6.12.0"}, {"memory_bytes", 8589934592}};
    body["shapes"] = Json::array({Json({{"weight", 1.0}, {"inputs", {{"x", {1, 3, 48, 320}}}}})});
    body.update(changes);
    event("run", "run", body, 1.5);
    event("decidable", "decidable", {{"openings", 0}, {"alpha", 0.025}, {"undecidable", Json::array()}}, 0.1);
    event("engine/openvino", "engine",
          {{"engine", "openvino"}, {"version", "2026.4.1"}, {"devices", Json::array({"CPU: AMD EPYC 9V45"})},
           {"cpu_features", {"avx2", "avx512_bf16"}},
           {"knobs", {{"NUM_STREAMS", "property"}, {"INFERENCE_PRECISION_HINT", "property"}, {"shape", "shape"},
                      {"INFERENCE_NUM_THREADS", "property"}, {"ONEDNN_MAX_CPU_ISA", "environment"}}}}, 0.8);
  }

  void candidate(int id, const Settings& settings, const std::vector<std::string>& roles = {},
                 const std::string& engine = "openvino") {
    std::string text = "engine=" + engine;
    for (const auto& [name, value] : settings) text += fmt::format(" {}={}", name, value);
    settings_[id] = settings;
    event(fmt::format("candidate/{}", id), "candidate",
          {{"id", id}, {"digest", sha256_hex(text)}, {"roles", roles},
           {"route", {{"engine", engine}, {"settings", settings}, {"text", text}}}}, 0.01);
  }

  static Json effective(const std::string& precision) {
    return {{"settings", {{"INFERENCE_PRECISION_HINT", precision}, {"NUM_STREAMS", "1"}}},
            {"precisions", {{precision, 104}, {"f32", precision == "f32" ? 120 : 16}}},
            {"placement", {{"CPU", 120}}}, {"graph_digest", std::string(64, 'd')}, {"ignored", Json::array()}};
  }

  /// Leaves real files, so that a bundle can be made of them.
  void built(int id, const std::string& precision, const Json& changes = Json::object()) {
    const auto place = folder_ / "artifacts" / "new";
    std::filesystem::create_directories(place);
    std::ofstream(place / "compiled.blob", std::ios::binary) << "blob of candidate " << id << std::string(100, '\0');
    Json request = Json::object();
    for (const auto& [name, value] : settings_[id]) {
      if (name != "ONEDNN_MAX_CPU_ISA") request[name] = value;
    }
    const Json note = {{"engine", "openvino"}, {"version", "2026.4.1"}, {"device", "CPU"}, {"file", "compiled.blob"},
                       {"settings", request}, {"inputs", Json::array({"x"})},
                       {"outputs", Json::array({"softmax_11.tmp_0"})}};
    std::ofstream(place / "load.json") << note.dump(2) << "\n";
    built_from(place, id, precision, changes);
  }

  /// The same with an artifact that an engine really made; its folder is moved into the run.
  void built_from(const std::filesystem::path& place, int id, const std::string& precision,
                  const Json& changes = Json::object()) {
    std::filesystem::create_directories(folder_ / "artifacts");
    const std::string digest = sha256_folder(place).value();
    std::filesystem::rename(place, folder_ / "artifacts" / digest);
    Json body = {{"id", id}, {"artifact", digest}, {"artifact_bytes", 14894039}, {"build_seconds", 0.41 + 0.01 * id},
                 {"build_peak_memory_bytes", 255013888}, {"effective", effective(precision)},
                 {"identity", sha256_hex(digest)}, {"status", "tried"}, {"reason", ""}};
    body.update(changes);
    event(fmt::format("candidate/{}/build", id), "build", body, 0.9);
  }

  void not_built(int id, const std::string& status, const std::string& reason, const Json& failure) {
    event(fmt::format("candidate/{}/build", id), "build",
          {{"id", id}, {"status", status}, {"reason", reason}, {"failure", failure}}, 1.2);
  }

  static Json latency(double p50_seconds, std::int64_t count = 30) {
    Json json = {{"count", count}, {"mean_seconds", 1.05 * p50_seconds}, {"p50_seconds", p50_seconds},
                 {"per_second", 1 / (1.05 * p50_seconds)}};
    if (count >= 100) json["p90_seconds"] = 1.2 * p50_seconds;
    if (count >= 100) json["p90_at_most_seconds"] = 1.3 * p50_seconds;
    if (count >= 459) json["p99_seconds"] = 1.5 * p50_seconds;
    return json;
  }

  void probed(int id, double ratio, const Json& changes = Json::object()) {
    Json body = {{"id", id}, {"load_seconds", 0.12}, {"log_ratio", std::log(ratio)}, {"latency", latency(kBase / ratio)},
                 {"peak_memory_bytes", 159383552}, {"status", "tried"}, {"reason", ""}};
    body.update(changes);
    event(fmt::format("candidate/{}/probe", id), "probe", body, 1.4);
  }

  static Json gate(const std::string& status, const std::string& reason, const std::string& message, std::int64_t n,
                   double drop, const Json& upper = nullptr) {
    Json task = {{"task", "exact_match"}, {"slice", ""}, {"n", n}, {"reference_score", 0.962},
                 {"candidate_score", 0.962 - drop}, {"drop", drop}, {"margin", 0.01}, {"wins", 2}, {"losses", 4},
                 {"method", upper.is_null() ? "point estimate" : "tango"}, {"status", status}};
    if (!upper.is_null()) task["drop_upper"] = upper;
    return {{"status", status}, {"reason", reason}, {"message", message}, {"samples_seen", n}, {"tasks", Json::array({task})},
            {"tensors", Json::array()}, {"margin_left", (0.01 - drop) / 0.01}};
  }

  void judged(int id, const std::string& status, const std::string& reason, double drop) {
    const bool good = status == "admissible";
    const Json result = gate(good ? "admissible" : "rejected", good ? "none" : "slice", reason, 480, drop);
    event(fmt::format("candidate/{}/gate", id), "gate",
          {{"id", id}, {"gate", result}, {"margin_left", (0.01 - drop) / 0.01}, {"peak_memory_bytes", 160432128},
           {"scores", {{"exact_match", {{"0", 1.0}, {"1", 0.0}}}}}, {"output_bits", {{"0", "reference"}}}, {"seconds", 6.5},
           {"inputs", Json::array({Json({{"name", "x"}, {"dtype", "float32"}, {"shape", {-1, 3, 48, -1}}})})},
           {"outputs", Json::array({Json({{"name", "softmax_11.tmp_0"}, {"dtype", "float32"}, {"shape", {-1, -1, 6625}}})})},
           {"status", status}, {"reason", reason}}, 7.0);
  }

  /// `ratios` are those of all but the first of `ids`.
  void session(const std::string& key, const std::string& type, const std::vector<int>& ids,
               const std::vector<double>& ratios, const Json& extra = Json::object()) {
    Json contenders = Json::array();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double ratio = i == 0 ? 1 : ratios[i - 1];
      Json entry = {{"id", ids[i]}, {"latency", latency(kBase / ratio, 45)}, {"peak_memory_bytes", 159383552}};
      if (i > 0) entry["log_ratio"] = std::log(ratio);
      contenders.push_back(entry);
    }
    Json body = {{"contenders", contenders}, {"start_order", ids}, {"rejected_rounds", 0}, {"seconds", 3.1},
                 {"rounds", Json::array()}};
    body.update(extra);
    event(key, type, body, 3.2);
  }

  void race(const std::vector<int>& ids, const std::vector<double>& ratios, const Json& end) {
    for (int session_number = 1; session_number <= 3; ++session_number) {
      std::vector<double> wobbly = ratios;
      for (double& ratio : wobbly) ratio *= 1 + 0.004 * (session_number - 2);
      session(fmt::format("race/{}", session_number), "race", ids, wobbly);
    }
    event("race/end", "race_end", end, 0.1);
  }

  void confirmed(int id, double ratio, int sessions, double alpha, const std::string& word) {
    const bool win = word == "confirmed";
    for (int i = 1; i <= sessions; ++i) {
      session(fmt::format("confirm/1/{}", i), "confirm", {2, id}, {ratio},
              {{"id", id}, {"alpha", alpha}, {"log_ratio", std::log(ratio)}, {"win", win}});
    }
    event("confirm/1/end", "confirm_end",
          {{"id", id}, {"turn", 1}, {"alpha", alpha}, {"speed", word}, {"won", win ? sessions : 0}, {"sessions", sessions},
           {"e_value", win ? 76.9 : 0.2},
           {"message", fmt::format("{} of {} sessions won, E = {} of the 40 needed", win ? sessions : 0, sessions,
                                   win ? "76.9" : "0.2")}}, 0.1);
  }

  void holdout(int id, const std::string& word, const std::string& status, const std::string& reason, double drop,
               double upper) {
    event("holdout/1/opening", "opening", {{"id", id}, {"opening", 1}, {"alpha", 0.025}}, 0.1);
    event("holdout/reference", "holdout_reference", {{"scores", {{"exact_match", 0.962}}}}, 13.0);
    event("holdout/1", "holdout",
          {{"id", id}, {"alpha", 0.025}, {"opening", 1}, {"holdout", word}, {"status", status}, {"reason", reason},
           {"gate", gate(word == "confirmed" ? "admissible" : "undecided", "none", reason, 1000, drop, upper)}}, 14.0);
  }

  void verdict(const std::string& word, const std::string& reason, const Json& changes) {
    Json body = {{"verdict", word}, {"reason", reason}, {"missing", Json::array()}, {"ships", nullptr},
                 {"winner", nullptr}, {"baseline", 2}, {"comparator", 2}, {"baseline_admissible", true},
                 {"nearest_misses", Json::array()}};
    body.update(changes);
    event("verdict", "verdict", body, 0.1);
  }

  static constexpr double kBase = 0.01306;  // seconds: p50 of the comparator

 private:
  std::filesystem::path folder_;
  Journal journal_;
  double spent_ = 0;
  std::map<int, Settings> settings_;
};

/// The reference, the baseline (admissible or not), and who must be beaten.
enum class Baseline { kAdmissible, kWrong };
inline void write_anchors(TestRun& run, Baseline baseline) {
  const bool good = baseline == Baseline::kAdmissible;
  run.candidate(1, {{"INFERENCE_PRECISION_HINT", "f32"}}, {"reference", "float32"});
  run.built(1, "f32");
  run.event("reference", "reference", {{"id", 1}, {"scores", {{"exact_match", 0.962}}}, {"mistrusted", Json::object()},
                                       {"seconds", 6.4}}, 6.5);
  run.candidate(2, {}, {"baseline", "default"});
  run.built(2, "bf16");
  run.judged(1, "admissible", "", 0);
  good ? run.judged(2, "admissible", "", 0.002)
       : run.judged(2, "wrong_slice", "exact_match lost 0.083 on slice small (margin 0.050, n 300)", 0.027);
  run.session("anchors", "anchors", good ? std::vector{1, 2} : std::vector{1}, {1.41});
  run.event("comparator", "comparator",
            {{"id", good ? 2 : 1}, {"admissible", true},
             {"why", good ? "the baseline is admissible"
                          : "the baseline is not admissible; this is the fastest admissible default or float32 route"}},
            0.01);
}

/// Seven candidates of the search: two good ones, and one of each way to fail.
inline void write_search(TestRun& run) {
  run.candidate(3, {{"INFERENCE_NUM_THREADS", "1"}, {"NUM_STREAMS", "1"}});
  run.built(3, "bf16");
  run.probed(3, 1.21);
  run.candidate(4, {{"ONEDNN_MAX_CPU_ISA", "AVX2"}, {"NUM_STREAMS", "1"}, {"shape", "static"}});
  run.built(4, "bf16");
  run.probed(4, 1.84);
  run.candidate(5, {{"INFERENCE_PRECISION_HINT", "f16"}, {"shape", "static"}});
  run.built(5, "f16");
  run.probed(5, 1.95);
  run.candidate(6, {{"shape", "static"}, {"NUM_STREAMS", "1"}});
  run.built(6, "bf16", {{"status", "duplicate"}, {"same_as", 3},
                        {"reason", "same graph, effective settings and environment as candidate 3"}});
  run.candidate(7, {{"NUM_STREAMS", "2"}});
  run.not_built(7, "crash", "ended by signal 11 (SIGSEGV)",
                {{"kind", "crash"}, {"message", "ended by signal 11 (SIGSEGV)"}, {"phase", "build"}, {"signal", 11},
                 {"log_tail", "jit_uni: assertion failed\nworker: caught SIGSEGV\n"}});
  run.candidate(8, {{"INFERENCE_NUM_THREADS", "1"}, {"shape", "static"}});
  run.built(8, "bf16");
  run.probed(8, 0.71);
  run.candidate(9, {{"NUM_STREAMS", "4"}});
  run.not_built(9, "unsupported", "NUM_STREAMS=4 exceeds the cores",
                {{"kind", "unsupported"}, {"message", "NUM_STREAMS=4 exceeds the cores"}, {"phase", "build"},
                 {"log_tail", ""}});
  run.event("search/end", "search_end", {{"stop_reason", "budget"}, {"tried", 7}, {"strategy", "auto"}, {"space_size", 96.0},
                                         {"asked", 8}, {"uniform_draws", {3, 8, 9}}, {"draws_put_off", 0}}, 0.1);
  run.judged(5, "wrong_slice", "exact_match lost 0.053 on slice small (margin 0.050, n 300)", 0.0106);
  run.judged(4, "admissible", "", 0.004);
  run.judged(3, "admissible", "", 0.001);
}

inline void write_improved(const std::filesystem::path& folder) {
  TestRun run(folder);
  run.begin({{"executions", 5000000}});
  write_anchors(run, Baseline::kAdmissible);
  write_search(run);
  run.race({2, 4, 3, 1}, {1.83, 1.20, 0.71},
           {{"contenders", Json::array({Json({{"id", 4}, {"latency", TestRun::latency(TestRun::kBase / 1.83, 135)}}),
                                         Json({{"id", 2}, {"latency", TestRun::latency(TestRun::kBase, 135)}})})},
            {"equivalent", Json::array({4})}, {"nominees", {4, 3}}});
  run.confirmed(4, 1.82, 9, 0.025, "confirmed");
  run.holdout(4, "confirmed", "admissible", "", 0.002, 0.0087);
  for (int i = 1; i <= 10; ++i) {
    const double ratio = 1.78 + 0.01 * i;
    run.session(fmt::format("estimate/{}", i), "estimate", {2, 4}, {ratio}, {{"id", 4}, {"log_ratio", std::log(ratio)}});
  }
  run.verdict("improved", "#4 is proven faster (9 of 9 sessions won, E = 76.9 of the 40 needed) and accurate on the hold-out",
              {{"ships", 4}, {"winner", 4},
               {"speedup", {{"estimate", 1.835}, {"low", 1.80}, {"high", 1.87}, {"confidence", 1 - 22.0 / 1024},
                            {"sessions_deciding", 9}, {"sessions_estimating", 10}}},
               {"nearest_misses",
                Json::array({Json({{"id", 5}, {"route", "engine=openvino INFERENCE_PRECISION_HINT=f16 shape=static"},
                                   {"reason", "exact_match lost 0.053 on slice small (margin 0.050, n 300)"},
                                   {"margin_left", -0.06}})})}});
}

/// The baseline is wrong, so the float32 route must be beaten, and nothing does.
inline void write_not_improved(const std::filesystem::path& folder) {
  TestRun run(folder);
  run.begin({{"executions", 1000000}});
  write_anchors(run, Baseline::kWrong);
  write_search(run);
  run.race({1, 4, 3}, {1.006, 0.94}, {{"contenders", Json::array()}, {"equivalent", Json::array({4})}, {"nominees", Json::array()}});
  run.verdict("not_improved", "no admissible candidate was more than 1 % faster than the comparator in the race",
              {{"ships", 1}, {"comparator", 1}, {"baseline_admissible", false}});
}

inline void write_undecided(const std::filesystem::path& folder) {
  TestRun run(folder);
  run.begin();
  write_anchors(run, Baseline::kAdmissible);
  write_search(run);
  run.race({2, 4, 3, 1}, {1.83, 1.20, 0.71}, {{"contenders", Json::array()}, {"equivalent", Json::array({4})}, {"nominees", Json::array({4})}});
  run.confirmed(4, 1.82, 9, 0.025, "confirmed");
  run.holdout(4, "undecided", "undecided", "exact_match: drop at most 0.012, margin 0.010; 1400 samples would decide", 0.004,
              0.012);
  run.verdict("undecided", "a nominee still satisfies the contract by its estimates, but the proof is not complete",
              {{"ships", 2}, {"missing", Json::array({"#4 accuracy: exact_match: drop at most 0.012, margin 0.010; 1400 samples "
                                                   "would decide"})}});
}

/// Not even float32 scores what the contract demands.
inline void write_infeasible(const std::filesystem::path& folder) {
  const std::string floor = "exact_match scored 0.962, at least 0.970 is asked for (n 480)";
  TestRun run(folder);
  run.begin();
  run.candidate(1, {{"INFERENCE_PRECISION_HINT", "f32"}}, {"reference", "float32"});
  run.built(1, "f32");
  run.event("reference", "reference", {{"id", 1}, {"scores", {{"exact_match", 0.962}}}, {"seconds", 6.4}}, 6.5);
  run.candidate(2, {}, {"baseline", "default"});
  run.built(2, "bf16");
  run.judged(1, "wrong", floor, 0);
  run.judged(2, "wrong", "exact_match lost 0.012 (margin 0.010, n 480)", 0.012);
  run.session("anchors", "anchors", {1}, {});
  run.event("comparator", "comparator",
            {{"id", 1}, {"admissible", false},
             {"why", "no default or float32 route is admissible; the reference only lends its time"}}, 0.01);
  run.event("search/end", "search_end", {{"stop_reason", "exhausted"}, {"tried", 0}, {"strategy", "full"},
                                         {"space_size", 2.0}}, 0.1);
  run.verdict("infeasible", "no candidate meets the contract",
              {{"baseline_admissible", false}, {"comparator", 1},
               {"nearest_misses",
                Json::array({Json({{"id", 1}, {"route", "engine=openvino INFERENCE_PRECISION_HINT=f32"},
                                   {"reason", floor}, {"margin_left", 1.0}}),
                             Json({{"id", 2}, {"route", "engine=openvino"},
                                   {"reason", "exact_match lost 0.012 (margin 0.010, n 480)"}, {"margin_left", -0.2}})})}});
}

inline void write_unfinished(const std::filesystem::path& folder) {
  TestRun run(folder);
  run.begin();
  write_anchors(run, Baseline::kAdmissible);
  run.candidate(3, {{"NUM_STREAMS", "1"}});
  run.built(3, "bf16");
  run.probed(3, 1.21);
  run.candidate(4, {{"NUM_STREAMS", "2"}});
}

using Story = void (*)(const std::filesystem::path&);

inline RunView view_of(Story story) {
  const TestFolder folder;
  story(folder.path());
  RunView view = read_run(folder.path()).value();
  view.folder = "run";  // so that no temporary name stands in what is compared
  return view;
}

}  // namespace fiel
