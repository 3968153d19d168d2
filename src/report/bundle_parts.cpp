#include "report/bundle_parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/fields.h"
#include "report/json.h"
#include "report/words.h"

namespace fiel {
namespace {

// The control characters that a name may hold are written in octal, which no following digit can prolong.
std::string c_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if (byte < 0x20 || byte == 0x7f || c == '?') {  // ?: no trigraphs
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string settings_list(const Json& settings) {
  std::string list;
  for (const auto& [name, value] : settings.items()) {
    list += fmt::format("    {{{}, {}}},\n", c_literal(name), c_literal(value.get<std::string>()));
  }
  return list;
}

// The contract's cores; runs of older versions do not say.
std::vector<std::int64_t> cores_of(const Json& run) {
  std::vector<std::int64_t> cores;
  for (const Json& core : fields::member(run, "cores")) {
    if (core.is_number_integer()) cores.push_back(core.get<std::int64_t>());
  }
  return cores;
}

std::vector<std::int64_t> traffic_of(const Json& bundle, const std::string& input) {
  const Json& shapes = fields::member(bundle, "shapes");
  if (!shapes.is_array() || shapes.empty()) return {};
  std::vector<std::int64_t> sizes;
  for (const Json& size : fields::member(fields::member(shapes.front(), "inputs"), input)) {
    if (size.is_number_integer()) sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

std::int64_t batch_of(const CandidateView& candidate) {
  const auto found = candidate.settings.find("batch");
  const std::int64_t batch = found == candidate.settings.end() ? 1 : std::atoll(found->second.c_str());
  return std::max<std::int64_t>(batch, 1);
}

// Who judged it and whom it had to beat, as routes that can be built again.
Json other_json(const RunView& view, std::optional<int> id) {
  const CandidateView* candidate = view.find(id);
  if (candidate == nullptr) return nullptr;
  return {{"id", candidate->id}, {"route", candidate->route}, {"roles", candidate->roles}};
}

Json evidence_json(const RunView& view, const CandidateView& candidate) {
  Json json = {{"worth", to_string(worth_of(view, candidate))},
               {"words", worth_words(view, candidate)},
               {"verdict", view.verdict.empty() ? Json(nullptr) : Json(view.verdict)},
               {"reason", view.reason},
               {"status", candidate.status},
               {"kind", candidate.kind},
               {"speedup", nullptr}};
  if (view.winner == candidate.id && view.speedup) {
    json["speedup"] = {{"estimate", view.speedup->estimate},
                       {"over", view.comparator ? Json(*view.comparator) : Json(nullptr)},
                       {"sessions", view.speedup->sessions_estimating}};
    if (view.speedup->low) json["speedup"]["low"] = *view.speedup->low;
    if (view.speedup->high) json["speedup"]["high"] = *view.speedup->high;
    if (view.speedup->confidence) json["speedup"]["confidence"] = *view.speedup->confidence;
  }
  json["accuracy"] = {{"tuning", fields::parsed(candidate.gate_tuning_json)},
                      {"holdout", fields::parsed(candidate.gate_holdout_json)}};
  return json;
}

}  // namespace

std::string_view to_string(Worth worth) {
  switch (worth) {
    case Worth::kProven: return "proven";
    case Worth::kKept: return "kept";
    case Worth::kProvisional: return "provisional";
    case Worth::kInadmissible: return "inadmissible";
  }
  return "inadmissible";
}

Worth worth_of(const RunView& view, const CandidateView& candidate) {
  if (candidate.status != "admissible") return Worth::kInadmissible;
  if (view.winner == candidate.id) return Worth::kProven;
  return view.ships == candidate.id ? Worth::kKept : Worth::kProvisional;
}

std::string worth_words(const RunView& view, const CandidateView& candidate) {
  switch (worth_of(view, candidate)) {
    case Worth::kProven: {
      const auto shown = ratio_of(view, candidate).value_or(RatioShown{});
      std::string text = fmt::format("{} times as fast as {}", format_ratio(shown.ratio), comparator_words(view));
      if (view.speedup && view.speedup->low && view.speedup->high && view.speedup->confidence) {
        text += fmt::format(" [{}, {}] ({:.1f} % interval, {})", format_ratio(*view.speedup->low),
                            format_ratio(*view.speedup->high), 100 * *view.speedup->confidence,
                            format_sessions(view.speedup->sessions_estimating));
      }
      return text + ", " + accuracy_words(view, candidate);
    }
    case Worth::kKept:
      return fmt::format("what had to be beaten: nothing that was tried is proven to be better; accurate on {} tuning samples "
                         "by point estimates", view.tuning_samples);
    case Worth::kProvisional:
      return fmt::format("accurate on {} tuning samples by point estimates; nothing is proven of its speed or of its accuracy "
                         "on other data", view.tuning_samples);
    case Worth::kInadmissible:
      return fmt::format("NOT ADMISSIBLE: {}{}{}", kind_words(candidate.kind), candidate.reason.empty() ? "" : ": ",
                         one_line(candidate.reason));
  }
  return {};
}

Json bundle_json(const BundleFacts& facts) {
  const RunView& view = facts.view;
  const CandidateView& candidate = facts.candidate;
  const Json run = fields::parsed(view.run_json);
  const Json& machine = fields::member(run, "machine");
  Json json = {{"fiel_version", fields::text(run, "fiel_version")},
               {"run_id", fields::text(run, "run_id")},
               {"engine", candidate.engine},
               {"engine_version", ""},
               {"contract_file", view.contract_file},
               {"device", facts.device},
               {"devices", Json::array()},
               {"cores", cores_of(run)},
               {"cpu", fields::text(machine, "cpu")},
               {"cpu_count", fields::integer(machine, "cores").value_or(0)},
               {"cpu_features", Json::array()},
               {"kernel", fields::text(machine, "kernel")},
               {"reference", other_json(view, view.reference)},
               {"comparator", other_json(view, view.comparator)},
               {"scenario", view.scenario},
               {"objective", view.objective},
               {"settings", candidate.settings},
               {"properties", candidate.properties},
               {"environment", candidate.environment},
               {"effective", candidate.effective},
               {"inputs", ports_json(candidate.inputs)},
               {"outputs", ports_json(candidate.outputs)},
               {"shapes", fields::member(run, "shapes").is_array() ? fields::member(run, "shapes") : Json::array()},
               {"batch", batch_of(candidate)},
               {"evidence", evidence_json(view, candidate)}};
  for (const EngineView& engine : view.engines) {
    if (engine.name != candidate.engine) continue;
    json["engine_version"] = engine.version;
    json["devices"] = engine.devices;
    json["cpu_features"] = engine.cpu_features;
  }
  json["candidate"] = {{"id", candidate.id}, {"digest", candidate.digest}, {"route", candidate.route}};
  const Json& data = fields::member(run, "data");
  json["digests"] = {{"artifact", candidate.artifact},
                     {"contract", facts.contract_digest},
                     {"model", fields::text(fields::member(run, "model"), "digest")},
                     {"tuning", fields::text(fields::member(data, "tuning"), "digest")},
                     {"holdout", fields::text(fields::member(data, "holdout"), "digest")}};
  const auto variant = candidate.settings.find("variant");
  if (variant != candidate.settings.end()) {  // a ready file of somebody else's making
    const std::string digest = fields::text(fields::member(fields::member(run, "variants"), variant->second), "digest");
    if (!digest.empty()) json["digests"]["variant"] = digest;
  }
  return json;
}

std::string sealed_header(const Json& bundle, const Json& note, const Json& artifact_files) {
  std::string text =
      "// Written by `fiel export`: what load.cpp's program is bound to.\n#pragma once\n\n#include <string>\n"
      "#include <vector>\n\nnamespace sealed {\n\nstruct File {\n  const char* path;\n  const char* sha256;\n};\n"
      "struct Setting {\n  const char* name;\n  const char* value;\n};\nstruct Input {\n  std::string name;\n"
      "  std::vector<long> traffic;  // one shape that is served\n};\n\n";
  const auto constant = [&](const char* name, const std::string& value) {
    text += fmt::format("inline constexpr const char* {} = {};\n", name, c_literal(value));
  };
  constant("kEngineVersion", fields::text(bundle, "engine_version"));
  constant("kDevice", fields::text(bundle, "device"));
  constant("kArtifactFile", fields::text(note, "file"));
  text += fmt::format("inline constexpr long kBatch = {};\n", fields::integer(bundle, "batch").value_or(1));
  text += "inline const std::vector<std::string> kCpuFeatures = {\n";
  for (const std::string& feature : fields::texts(bundle, "cpu_features")) {
    text += fmt::format("    {},\n", c_literal(feature));
  }
  text += fmt::format("}};\ninline const std::vector<int> kCores = {{{}}};\n", fmt::join(cores_of(bundle), ", "));
  text += fmt::format("inline const std::vector<Setting> kProperties = {{\n{}}};\n", settings_list(note.contains("options") ? note["options"] : bundle["properties"]));
  text += fmt::format("inline const std::vector<Setting> kEnvironment = {{\n{}}};\n", settings_list(bundle["environment"]));
  text += "inline const std::vector<File> kFiles = {\n";
  for (const auto& [path, file] : artifact_files.items()) {
    text += fmt::format("    {{{}, {}}},\n", c_literal("artifact/" + path), c_literal(fields::text(file, "sha256")));
  }
  text += "};\ninline const std::vector<Input> kInputs = {\n";
  for (const std::string& name : fields::texts(note, "inputs")) {
    text += fmt::format("    {{{}, {{{}}}}},\n", c_literal(name), fmt::join(traffic_of(bundle, name), ", "));
  }
  text += "};\ninline const std::vector<std::string> kOutputs = {\n";
  for (const std::string& name : fields::texts(note, "outputs")) text += fmt::format("    {},\n", c_literal(name));
  return text + "};\n\n}  // namespace sealed\n";
}

}  // namespace fiel
