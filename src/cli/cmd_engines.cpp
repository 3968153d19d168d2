// engines and routes: what there is to choose from here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/confine.h"
#include "cli/command.h"
#include "model/model_file.h"
#include "tune/engines.h"

namespace fiel {
namespace {

struct EnginesArguments {
  std::string contract;
  std::string engine;
  bool json = false;
};

ExitStatus run_engines(const EnginesArguments& arguments, const Cli& cli) {
  Json all = Json::array();
  std::string text;
  bool any = false;
  for (const EngineTarget& target : known_engines()) {
    const EngineFound found = find_engine(target, cli.cancel_fd);
    Json json = {{"engine", target.name}, {"works", found.hello.has_value()}, {"problem", found.problem}};
    if (found.hello) {
      any = true;
      json["version"] = found.hello->version;
      json["devices"] = found.hello->devices;
      json["cpu_features"] = found.hello->cpu_features;
      json["knobs"] = found.hello->knobs.size();
      text += fmt::format("{:<14} works   version {}, {}; {} knobs\n", target.name, found.hello->version,
                          fmt::join(found.hello->devices, ", "), found.hello->knobs.size());
    } else {
      text += fmt::format("{:<14} MISSING {}\n", target.name, found.problem);
    }
    all.push_back(std::move(json));
  }
  const KernelGuards guards = kernel_guards();
  text += fmt::format("workers are confined: {}\n", enforced_guards(guards));
  for (const std::string& missing : missing_guards(guards)) text += fmt::format("  not here: {}\n", missing);
  text += "other engines: any program that speaks docs/protocol.md, named by [engines.NAME] worker in the contract\n";
  const ExitStatus printed = print_result(arguments.json ? all.dump(1) + "\n" : text);
  return printed != ExitStatus::kDecided || any ? printed : ExitStatus::kEnvironment;
}

std::string knob_text(const Knob& knob) {
  std::string values;
  for (const std::string& value : knob.values) {
    values += fmt::format("{}{}", values.empty() ? "" : " | ", value == knob.default_value ? value + "*" : value);
  }
  std::string text = fmt::format("  {:<42} {:<11} {}\n", knob.name, to_string(knob.kind), values);
  for (const Condition& condition : knob.only_if) {
    text += fmt::format("      only if {} = {}\n", condition.knob, fmt::join(condition.values, " or "));
  }
  if (!knob.help.empty()) text += fmt::format("      {}\n", knob.help);
  return text;
}

Result<ExitStatus> run_routes(const EnginesArguments& arguments, const Cli& cli) {
  const Contract contract = FIEL_TRY(read_contract(std::filesystem::absolute(arguments.contract)));
  Json all = Json::array();
  std::string text;
  std::vector<EngineSpace> spaces;
  const OnnxModel model = FIEL_TRY(read_model(contract.model));
  const VariantKnob variants = variant_knob(model, contract);
  for (const EngineTarget& target : contract.engines) {
    if (!arguments.engine.empty() && target.name != arguments.engine) continue;
    const EngineFound found = find_engine(target, cli.cancel_fd);
    if (!found.hello) {
      return fail(ErrorKind::kEnvironment, fmt::format("engine {} does not work here", target.name), found.problem);
    }
    spaces.push_back(space_of(*found.hello, target.name, contract, contract.shapes.size(), variants));
    text += fmt::format("{} {} (* = default)\n", target.name, found.hello->version);
    Json knobs = Json::array();
    for (const Knob& knob : spaces.back().knobs) {
      text += knob_text(knob);
      Json conditions = Json::array();
      for (const Condition& condition : knob.only_if) {
        conditions.push_back({{"knob", condition.knob}, {"values", condition.values}});
      }
      knobs.push_back({{"name", knob.name}, {"kind", to_string(knob.kind)}, {"values", knob.values},
                       {"default", knob.default_value}, {"help", knob.help}, {"only_if", conditions}});
    }
    all.push_back({{"engine", target.name}, {"version", found.hello->version}, {"knobs", knobs}});
  }
  if (spaces.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("the contract has no engine {}", arguments.engine), "see [target] engines");
  }
  if (!variants.note.empty()) text += variants.note + "\n";
  const Space space = FIEL_TRY(Space::create(std::move(spaces)));
  text += fmt::format("{:.4g} routes in all\n", space.size());
  return print_result(arguments.json ? Json{{"format", 1}, {"engines", all}, {"routes", space.size()}}.dump(1) + "\n" : text);
}

}  // namespace

void add_engines(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<EnginesArguments>();
  CLI::App* command = app.add_subcommand("engines", "Which engines work here, and what is missing");
  command->add_flag("--json", arguments->json, "as one JSON document");
  command->callback([arguments, &cli] { cli.status = run_engines(*arguments, cli); });
}

void add_routes(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<EnginesArguments>();
  CLI::App* command = app.add_subcommand("routes", "The knobs, their values and defaults, and the size of the space");
  command->add_option("CONTRACT", arguments->contract, "contract.toml")->required();
  command->add_option("--engine", arguments->engine, "only this engine");
  command->add_flag("--json", arguments->json, "as one JSON document");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_routes(*arguments, cli));
  });
}

}  // namespace fiel
