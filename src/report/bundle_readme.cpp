#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/bundle_parts.h"
#include "report/candidates.h"
#include "report/fields.h"
#include "report/words.h"

namespace fiel {
namespace {

std::string settings_words(const std::map<std::string, std::string>& settings) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings) words.push_back(fmt::format("`{}={}`", name, value));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string accuracy_table(std::string_view set, const std::string& gate_json) {
  const Json gate = fields::parsed(gate_json);
  const Json& tasks = fields::member(gate, "tasks");
  if (!tasks.is_array() || tasks.empty()) return {};
  std::string text = fmt::format("\nOn {} data:\n\n| task | slice | n | reference | this | lost | at most | allowed |\n"
                                 "|---|---|---|---|---|---|---|---|\n", set);
  const auto cell = [](const Json& task, const char* key) {
    const auto number = fields::number(task, key);
    return number ? fmt::format("{:.4f}", *number) : std::string("-");
  };
  for (const Json& task : tasks) {
    const std::string slice = fields::text(task, "slice");
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", fields::text(task, "task"),
                        slice.empty() ? "all" : slice, fields::integer(task, "n").value_or(0),
                        cell(task, "reference_score"), cell(task, "candidate_score"), cell(task, "drop"),
                        cell(task, "drop_upper"), cell(task, "margin"));
  }
  return text;
}

struct Recipe {
  std::string_view engine;
  std::string_view name;
  std::string_view package;
  std::string_view cmake_argument;
  std::string_view own_line;  // {0}: the device, {1}: the settings as Python writes them
};
constexpr Recipe kRecipes[] = {
    {"openvino", "OpenVINO", "openvino",
     "-DOpenVINO_DIR=\"$(python3 -c 'import openvino as o; print(o.__path__[0] + \"/cmake\")')\"",
     "A program of yours needs one line:\n\n    core.import_model(blob, \"{0}\", {{{1}}})\n"},
    {"onnxruntime", "ONNX Runtime", "onnxruntime",
     "-DONNXRUNTIME_LIBRARY=\"$(python3 -c 'import glob, onnxruntime as o; print(glob.glob(o.__path__[0] + "
     "\"/capi/libonnxruntime.so*\")[0])')\"",
     "A program of yours opens `artifact/` with the session options that `artifact/load.json` lists under `options`: the graph "
     "in it is optimised already, for this CPU, so the optimiser is off.\n"},
};

std::string how_to_load(const CandidateView& candidate, const std::string& device, const std::string& version) {
  const auto recipe = std::ranges::find(kRecipes, candidate.engine, &Recipe::engine);
  if (recipe == std::end(kRecipes)) {
    return "`artifact/` holds what the engine's worker wrote and loads again; `bundle.json` has the settings.\n";
  }
  std::string properties;
  for (const auto& [name, value] : candidate.properties) {
    properties += fmt::format("{}\"{}\": \"{}\"", properties.empty() ? "" : ", ", name, value);
  }
  return fmt::format(
             "Python (`pip install {}=={} numpy`); inputs that are not given are zeros:\n\n"
             "    python3 load.py INPUT=FILE.npy\n\n"
             "C++ (built elsewhere, so that the seal stays whole):\n\n"
             "    cmake -S . -B /tmp/load {}\n"
             "    cmake --build /tmp/load && /tmp/load/load INPUT=FILE.npy\n\n"
             "Both check the SHA-256 digests, {}'s version and the CPU's features first, and set the environment. Whether it is "
             "still as accurate and as fast: `fiel verify`. ",
             recipe->package, version, recipe->cmake_argument, recipe->name) +
         fmt::format(fmt::runtime(recipe->own_line), device, properties);
}

}  // namespace

std::string readme_text(const BundleFacts& facts) {
  const RunView& view = facts.view;
  const CandidateView& candidate = facts.candidate;
  const Json bundle = bundle_json(facts);
  std::string text = fmt::format("# Candidate #{}: {}\n\n", candidate.id, candidate.route);
  if (worth_of(view, candidate) == Worth::kInadmissible) {
    text += "> **WARNING: this does not meet its contract.** It was exported by force, to be looked at, not to be used.\n\n";
  }
  text += fmt::format("## What it is worth\n{}.\n", worth_words(view, candidate));
  if (view.verdict.empty()) text += "The run has no verdict: it was still going when this was written.\n";
  if (candidate.latency) {
    text += fmt::format("Latency{} {}; {} by {}.\n", view.scenario == "offline" ? " of a batch" : "",
                        latency_words(*candidate.latency), view.scenario, view.objective);
  }
  if (candidate.peak_memory_bytes) text += fmt::format("Peak memory {}.\n", format_bytes(*candidate.peak_memory_bytes));
  text += accuracy_table("hold-out", candidate.gate_holdout_json);
  text += accuracy_table("tuning", candidate.gate_tuning_json);
  text += "\n## What it is bound to\nThe figures, and the artifact itself, hold for these alone; where one of them changes, "
          "tune again.\n\n";
  text += fmt::format("- {} {} on {}\n", candidate.engine, fields::text(bundle, "engine_version"), facts.device);
  text += fmt::format("- {}; features: {}\n", fields::text(bundle, "cpu"),
                      fmt::join(fields::texts(bundle, "cpu_features"), " "));
  if (const Json& cores = fields::member(bundle, "cores"); !cores.empty()) {
    const std::string list = fmt::format("{}", fmt::join(cores.get<std::vector<int>>(), ","));
    text += fmt::format("- cores {} only: `taskset -c {} ...`\n", list, list);
  }
  text += fmt::format("- settings: {}\n", settings_words(candidate.settings));
  text += fmt::format("- environment, set before the process starts: {}\n", settings_words(candidate.environment));
  text += fmt::format("- batch {}, shapes {}\n", fields::integer(bundle, "batch").value_or(1), dump_json(bundle["shapes"]));
  text += fmt::format("- model {}\n\n", fields::text(bundle["digests"], "model"));
  text += "## How to load it\n" + how_to_load(candidate, facts.device, fields::text(bundle, "engine_version"));
  text += "\n## What is in it\n`artifact/` the engine's files, byte for byte as measured; `bundle.json` settings, ports, digests of "
          "every file; `contract.toml` what it was held to; `evidence.json` the whole run.\n";
  return text;
}

}  // namespace fiel
