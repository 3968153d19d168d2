#include "worker/engine_fake_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/rng.h"

namespace fiel::fake {
namespace {

template <class... Args>
std::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorKind::kUsage, fmt::format(text, std::forward<Args>(args)...),
              "see docs/fake-engine.md");
}

Result<> allow_keys(const Json& object, std::string_view where,
                    const std::set<std::string>& known) {
  if (!object.is_object()) return wrong("{} is no object", where);
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) return wrong("{} has an unknown key \"{}\"", where, key);
  }
  return {};
}

// Values of any type nlohmann can read, in one place that catches its exceptions.
template <class T>
Result<> take(const Json& object, const char* key, T& into) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  try {
    into = found->get<T>();
  } catch (const Json::exception& error) {
    return wrong("\"{}\": {}", key, error.what());
  }
  return {};
}

Result<Port> parse_port(const Json& json) {
  Port port;
  port.name = FIEL_TRY(get_string(json, "name"));
  const std::string dtype = FIEL_TRY(get_string(json, "dtype"));
  const auto parsed = parse_dtype(dtype);
  if (!parsed) return wrong("tensor {} has the unknown dtype {}", port.name, dtype);
  port.dtype = *parsed;
  FIEL_TRY(take(json, "shape", port.shape));
  return port;
}

Result<Output> parse_output(const Json& json) {
  FIEL_TRY(allow_keys(json, "an output",
                      {"name", "dtype", "shape", "rule", "class", "margin", "factor"}));
  Output output;
  output.port = FIEL_TRY(parse_port(json));
  std::string rule = "class", source = "input";
  FIEL_TRY(take(json, "rule", rule));
  FIEL_TRY(take(json, "class", source));
  FIEL_TRY(take(json, "margin", output.margin));
  FIEL_TRY(take(json, "factor", output.factor));
  if (rule != "class" && rule != "scale")
    return wrong("output {} has the unknown rule {}", output.port.name, rule);
  if (source != "input" && source != "hash")
    return wrong("output {} has the unknown class {}", output.port.name, source);
  output.rule = rule == "class" ? OutputRule::kClass : OutputRule::kScale;
  output.class_source = source == "input" ? ClassSource::kInput : ClassSource::kHash;
  if (output.rule == OutputRule::kClass &&
      (output.port.shape.empty() || output.port.shape.back() < 2)) {
    return wrong("output {} needs a last axis of at least 2 classes", output.port.name);
  }
  return output;
}

Result<FakeKnob> parse_knob(const Json& json) {
  FIEL_TRY(allow_keys(json, "a knob",
                      {"name", "kind", "values", "default", "help", "only_if", "latency", "build",
                       "parallel_requests", "effective", "precisions", "has_effect"}));
  FakeKnob knob;
  knob.name = FIEL_TRY(get_string(json, "name"));
  knob.kind = FIEL_TRY(get_string(json, "kind"));
  knob.values = FIEL_TRY(get_strings(json, "values"));
  knob.default_value = FIEL_TRY(get_string(json, "default"));
  FIEL_TRY(take(json, "latency", knob.latency));
  FIEL_TRY(take(json, "build", knob.build));
  FIEL_TRY(take(json, "parallel_requests", knob.parallel));
  FIEL_TRY(take(json, "effective", knob.effective));
  FIEL_TRY(take(json, "precisions", knob.precisions));
  FIEL_TRY(take(json, "has_effect", knob.has_effect));
  return knob;
}

// What hello says of a knob: its entry without our own keys.
Json hello_knob(Json json) {
  for (const char* key :
       {"latency", "build", "parallel_requests", "effective", "precisions", "has_effect"}) {
    json.erase(key);
  }
  return json;
}

Result<Noise> parse_noise(const Json& json) {
  Noise noise;
  const std::map<std::string, double*> keys = {{"sigma", &noise.sigma},
                                               {"process_sigma", &noise.process_sigma},
                                               {"common_sigma", &noise.common_sigma},
                                               {"ar1_rho", &noise.ar1_rho},
                                               {"ar1_sigma", &noise.ar1_sigma},
                                               {"drift_per_inference", &noise.drift_per_inference},
                                               {"drift_per_block", &noise.drift_per_block},
                                               {"mode_share", &noise.mode_share},
                                               {"mode_factor", &noise.mode_factor},
                                               {"spike_share", &noise.spike_share},
                                               {"spike_factor", &noise.spike_factor},
                                               {"period_inferences", &noise.period_inferences},
                                               {"period_amplitude", &noise.period_amplitude},
                                               {"cold_factor", &noise.cold_factor}};
  std::set<std::string> known;
  for (const auto& [key, value] : keys) known.insert(key);
  FIEL_TRY(allow_keys(json, "\"noise\"", known));
  for (const auto& [key, value] : keys) FIEL_TRY(take(json, key.c_str(), *value));
  return noise;
}

const std::set<std::string> kProcessActions = {
    "crash",     "exit",    "hang",         "stop",     "error",        "slow",      "leak",
    "print",     "garbage", "invalid_utf8", "wrong_id", "unknown_type", "half_line", "flood",
    "long_line", "twice",   "close_output", "answer",   "latencies"};
const std::set<std::string> kOutputActions = {
    "noise",        "flip",     "non_finite", "zeros",          "round",       "drop_output",
    "extra_output", "shape",    "dtype",      "swap",           "shift",       "missing_file",
    "link_file",    "bad_name", "cut_file",   "missing_sample", "extra_sample"};

Result<Fault> parse_fault(const Json& json) {
  FIEL_TRY(
      allow_keys(json, "a fault",
                 {"do",         "when",    "phase",  "batch",   "processes",    "from_inference",
                  "only_timed", "asked_again", "other_place", "samples", "signal", "status",  "after_answer", "ignore_sigterm",
                  "grandchild", "escape",  "reason", "message", "seconds",      "bytes",
                  "text",       "merge",   "values", "sd",      "share",        "value",
                  "elements",   "to",      "output", "shape",   "dtype"}));
  Fault fault;
  fault.action = FIEL_TRY(get_string(json, "do"));
  const bool on_outputs = kOutputActions.contains(fault.action);
  if (!on_outputs && !kProcessActions.contains(fault.action))
    return wrong("a fault does the unknown \"{}\"", fault.action);
  FIEL_TRY(take(json, "when", fault.when));
  if (json.contains("phase")) {
    if (json["phase"].is_array()) {
      FIEL_TRY(take(json, "phase", fault.phases));
    } else {
      fault.phases = {FIEL_TRY(get_string(json, "phase"))};
    }
  } else if (on_outputs) {
    fault.phases = {"infer", "measure"};
  } else {
    return wrong("the fault \"{}\" needs a phase", fault.action);
  }
  if (json.contains("batch")) fault.batch = FIEL_TRY(get_int(json, "batch"));
  std::vector<std::int64_t> processes;
  FIEL_TRY(take(json, "processes", processes));
  if (!processes.empty())
    fault.from_process = processes.front(), fault.to_process = processes.back();
  FIEL_TRY(take(json, "from_inference", fault.from_inference));
  FIEL_TRY(take(json, "only_timed", fault.only_timed));
  FIEL_TRY(take(json, "asked_again", fault.asked_again));
  FIEL_TRY(take(json, "other_place", fault.other_place));
  if (json.contains("samples")) {
    fault.sample_modulo = std::max<std::int64_t>(1, FIEL_TRY(get_int(json["samples"], "modulo")));
    fault.sample_is = FIEL_TRY(get_int(json["samples"], "is"));
  }
  fault.parameters = dump_json(json);
  return fault;
}

Result<> parse_lists(const Json& json, Script& script) {
  const auto list = [&](const char* key) { return json.contains(key) ? json[key] : Json::array(); };
  const Json inputs = list("inputs"), outputs = list("outputs"), knobs = list("knobs");
  for (const Json& item : inputs) script.inputs.push_back(FIEL_TRY(parse_port(item)));
  for (const Json& item : outputs) script.outputs.push_back(FIEL_TRY(parse_output(item)));
  Json hello = Json::array();
  for (const Json& item : knobs) {
    script.knobs.push_back(FIEL_TRY(parse_knob(item)));
    hello.push_back(hello_knob(item));
  }
  script.hello_knobs = dump_json(hello);
  const Json interactions = list("interactions"), faults = list("faults");
  for (const Json& item : interactions) {
    FIEL_TRY(allow_keys(item, "an interaction", {"when", "latency"}));
    Interaction interaction;
    FIEL_TRY(take(item, "when", interaction.when));
    FIEL_TRY(take(item, "latency", interaction.latency));
    script.interactions.push_back(std::move(interaction));
  }
  for (const Json& item : faults) {
    script.faults.push_back(FIEL_TRY(parse_fault(item)));
    // By content, not by place, so that one more fault leaves the others' random choices alone.
    script.faults.back().seed = sub_seed(script.seed, script.faults.back().parameters);
  }
  if (script.inputs.empty() || script.outputs.empty())
    return wrong("\"inputs\" and \"outputs\" may not be empty");
  return {};
}

}  // namespace

Result<Script> parse_script(const Json& json) {
  FIEL_TRY(allow_keys(json, "the script",
                      {"engine", "version", "seed", "inputs", "outputs", "knobs",
                       "float32_settings", "capabilities", "latency_seconds", "batch_cost",
                       "build_seconds", "load_seconds", "artifact_bytes", "precisions",
                       "interactions", "noise", "faults", "computed_time", "sleeps", "state_folder", "noise_by_process"}));
  Script script;
  FIEL_TRY(take(json, "engine", script.engine));
  FIEL_TRY(take(json, "version", script.version));
  FIEL_TRY(take(json, "seed", script.seed));
  FIEL_TRY(take(json, "float32_settings", script.float32_settings));
  FIEL_TRY(take(json, "capabilities", script.capabilities));
  FIEL_TRY(take(json, "latency_seconds", script.latency_seconds));
  FIEL_TRY(take(json, "batch_cost", script.batch_cost));
  FIEL_TRY(take(json, "build_seconds", script.build_seconds));
  FIEL_TRY(take(json, "load_seconds", script.load_seconds));
  FIEL_TRY(take(json, "artifact_bytes", script.artifact_bytes));
  FIEL_TRY(take(json, "precisions", script.precisions));
  FIEL_TRY(take(json, "computed_time", script.computed_time));
  FIEL_TRY(take(json, "sleeps", script.sleeps));
  FIEL_TRY(take(json, "noise_by_process", script.noise_by_process));
  std::string state_folder;
  FIEL_TRY(take(json, "state_folder", state_folder));
  script.state_folder = state_folder;
  if (script.noise_by_process && state_folder.empty())
    return wrong("\"noise_by_process\" is {}, but no \"state_folder\" counts processes", true);
  if (json.contains("noise")) script.noise = FIEL_TRY(parse_noise(json["noise"]));
  FIEL_TRY(parse_lists(json, script));
  if (!(script.latency_seconds > 0))
    return wrong("\"latency_seconds\" is {}", script.latency_seconds);
  return script;
}

Result<Script> read_script(const std::filesystem::path& path) {
  const std::string text = FIEL_TRY(read_text(path));
  auto json = parse_json(text);
  if (!json) return std::unexpected(std::move(json).error().with_context(path.string()));
  auto script = parse_script(*json);
  if (!script) return std::unexpected(std::move(script).error().with_context(path.string()));
  return script;
}

bool matches(const Settings& when, const Settings& settings) {
  return std::all_of(when.begin(), when.end(), [&](const auto& each) {
    const auto found = settings.find(each.first);
    return found != settings.end() && found->second == each.second;
  });
}

}  // namespace fiel::fake
