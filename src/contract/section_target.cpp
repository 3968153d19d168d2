// [target], [engines], [workload], [limits] and [speed]: where, for which traffic, within what.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cpu_list.h"
#include "base/nearest.h"
#include "contract/sections.h"

namespace fiel {
namespace {

const std::vector<std::string> kOwnEngines{"openvino", "onnxruntime", "trtexec", "fake"};

bool is_engine_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool is_fraction(double x) { return x >= 0 && x < 1; }
bool is_confidence(double x) { return x > 0.5 && x < 1; }

}  // namespace

EngineTarget default_engine() {
  return {.name = "openvino", .worker = {}, .library = {}, .arguments = {}};
}

void read_target(TableReader& table, Contract& contract) {
  if (const auto names = table.texts("engines")) {
    if (names->empty()) table.problem("engines", "is empty: leave it out for [\"openvino\"]");
    std::set<std::string> seen;
    for (const std::string& name : *names) {
      if (!is_engine_name(name)) {
        table.problem(
            "engines",
            fmt::format("'{}' is no engine's name: lower-case letters, digits, _ and -", name));
      } else if (!seen.insert(name).second) {
        table.problem("engines", fmt::format("names '{}' twice", name));
      } else {
        contract.engines.push_back({.name = name, .worker = {}, .library = {}, .arguments = {}});
      }
    }
  }
  if (const auto device = table.text("device")) contract.device = *device;
  if (const auto text = table.text("cores")) {
    if (const auto cores = parse_cpu_list(*text)) {
      contract.cores = *cores;
    } else {
      table.problem("cores",
                    fmt::format("wants cores such as \"0-1,4\", each once, found \"{}\"", *text));
    }
  }
  if (const auto baseline = table.text("baseline")) contract.baseline = *baseline;
}

void read_engines(TableReader& table, const SectionContext& context, Contract& contract) {
  // [engines] stands before the check of names, since a worker of one's own makes any name known.
  if (contract.engines.empty()) contract.engines.push_back(default_engine());
  std::vector<std::string> names;
  for (const auto& engine : contract.engines) names.push_back(engine.name);
  for (auto& [name, engine_table] : table.named_tables()) {
    const auto engine = std::ranges::find(contract.engines, name, &EngineTarget::name);
    if (engine == contract.engines.end()) {
      engine_table.problem("", fmt::format("target.engines does not have '{}': {}", name,
                                           did_you_mean(name, names)));
    }
    EngineTarget target;
    if (const auto worker = engine_table.text("worker"))
      target.worker = context.program(engine_table, "worker", {*worker})[0];
    target.library = context.file(engine_table, "library");
    if (auto arguments = engine_table.texts("arguments")) {
      target.arguments = context.program(engine_table, "arguments", std::move(*arguments));
    }
    target.confine = engine_table.boolean("confine").value_or(true);
    target.network = engine_table.boolean("network").value_or(false);
    for (const std::string& path : engine_table.texts("writable").value_or(std::vector<std::string>{})) {
      target.writable.push_back(context.resolve(path));
      std::error_code code;
      if (context.existence == Existence::kNow && !std::filesystem::exists(target.writable.back(), code)) {
        engine_table.problem("writable", fmt::format("there is no {}: make it first", target.writable.back().string()));
      }
    }
    for (const char* key : {"network", "writable"}) {
      if (target.confine || !engine_table.has(key)) continue;
      engine_table.problem(key, "opens a confined worker, and confine = false opens this one for everything: leave one out");
    }
    engine_table.finish();
    target.name = name;
    if (engine != contract.engines.end()) *engine = std::move(target);
  }
}

void check_engine_names(TableReader& top, const Contract& contract) {
  for (const auto& engine : contract.engines) {
    if (!engine.worker.empty() || std::ranges::find(kOwnEngines, engine.name) != kOwnEngines.end())
      continue;
    auto target = top.table("target");
    if (!target) continue;
    target->problem("engines",
                    fmt::format("fiel has no engine '{}': {} (or give [engines.{}] a worker)",
                                engine.name, did_you_mean(engine.name, kOwnEngines), engine.name));
  }
}

void read_workload(TableReader& table, Contract& contract) {
  const TableReader::Word<Scenario> scenarios[] = {{"single_stream", Scenario::kSingleStream},
                                                   {"offline", Scenario::kOffline},
                                                   {"server", Scenario::kServer}};
  const TableReader::Word<Objective> objectives[] = {{"latency_mean", Objective::kLatencyMean},
                                                     {"latency_p50", Objective::kLatencyP50},
                                                     {"latency_p90", Objective::kLatencyP90},
                                                     {"latency_p99", Objective::kLatencyP99},
                                                     {"throughput", Objective::kThroughput}};
  if (const auto scenario = table.word("scenario", scenarios)) contract.scenario = *scenario;
  const bool offline = contract.scenario == Scenario::kOffline;
  contract.objective = offline ? Objective::kThroughput : Objective::kLatencyP50;
  if (const auto objective = table.word("objective", objectives)) {
    contract.objective = *objective;
    if (offline && *objective != Objective::kThroughput) {
      table.problem(
          "objective",
          fmt::format("{} contradicts scenario \"offline\", where single requests have no latency: "
                      "use throughput, or scenario single_stream",
                      to_string(*objective)));
    }
    if (contract.scenario == Scenario::kServer && *objective == Objective::kThroughput) {
      table.problem("objective",
                    "throughput contradicts scenario \"server\", where requests arrive at target_qps "
                    "whatever the engine does: use a latency, or scenario offline");
    }
  }
  contract.target_qps = table.number("target_qps", "a number above zero",
                                     [](double x) { return x > 0 && std::isfinite(x); });
  if (contract.scenario == Scenario::kServer && !table.has("target_qps")) {
    table.problem("scenario",
                  "\"server\" needs target_qps, the rate at which your requests arrive (a second)");
  }
  if (contract.scenario == Scenario::kServer && !contract.state.empty()) {
    table.problem("scenario",
                  "\"server\" does not go with [[model.state]], whose steps wait for each other: "
                  "use single_stream");
  }
  if (table.has("target_qps") && contract.scenario != Scenario::kServer) {
    table.problem("target_qps",
                  fmt::format("belongs to scenario \"server\", not to {}: leave it out",
                              to_string(contract.scenario)));
  }
}

void read_limits(TableReader& table, Contract& contract) {
  contract.limits.peak_memory_bytes = table.bytes("peak_memory");
  contract.limits.latency_p99_seconds = table.seconds("latency_p99");
  contract.limits.build_time_seconds = table.seconds("build_time");
  contract.limits.artifact_bytes = table.bytes("artifact_size");
  if (table.has("latency_p99") && contract.scenario == Scenario::kOffline) {
    table.problem(
        "latency_p99",
        "contradicts scenario \"offline\", where single requests have no latency: leave it out, "
        "or use scenario single_stream");
  }
}

void read_speed(TableReader& table, Contract& contract) {
  const auto gain =
      table.number("min_gain", "a fraction of at least 0 and below 1 (0.01 is 1 %)", is_fraction);
  const auto confidence =
      table.number("confidence", "a confidence above 0.5 and below 1", is_confidence);
  contract.min_gain = gain.value_or(contract.min_gain);
  contract.speed_confidence = confidence.value_or(contract.speed_confidence);
}

}  // namespace fiel
