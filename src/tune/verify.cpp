#include "tune/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "report/fields.h"
#include "report/seal.h"
#include "tune/bundle_environment.h"
#include "tune/engines.h"
#include "tune/examine.h"

namespace fiel {
namespace {

struct SealFound {
  Check check;
  bool may_compare = true;  // list and contract are as sealed, so that there is something to go by
  bool may_run = true;      // the artifact too
};

Result<SealFound> look_at_seal(const std::filesystem::path& bundle) {
  SealFound found;
  const auto sealed = check_seal(bundle);
  if (!sealed && sealed.error().kind != ErrorKind::kCorrupt) return std::unexpected(sealed.error());
  if (!sealed) {
    found.check = {.word = CheckWord::kFailed, .message = sealed.error().message, .details = {}};
    found.may_compare = found.may_run = false;
    return found;
  }
  if (sealed->intact()) {
    found.check = {.word = CheckWord::kPassed, .message = "every file is as it was sealed", .details = {}};
    return found;
  }
  found.check.word = CheckWord::kFailed;
  const auto tell = [&](std::string_view what, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      found.check.details.push_back(fmt::format("{}: {}", what, name));
      if (name == "bundle.json" || name == "contract.toml") found.may_compare = found.may_run = false;
      if (name.starts_with("artifact/")) found.may_run = false;
    }
  };
  tell("changed", sealed->changed);
  tell("missing", sealed->missing);
  tell("added", sealed->extra);
  found.check.message = fmt::format("the seal is broken: {} files are not as they were sealed", found.check.details.size());
  return found;
}

void move_data(Contract& contract, const std::filesystem::path& to) {
  if (!contract.data.empty()) {
    contract.data = to;
    return;
  }
  for (auto* folder : {&contract.tuning, &contract.holdout}) *folder = to / folder->filename();
}

// The bundle's copy, with paths that start where the run's contract lay; or the file that the user names.
Result<Contract> contract_of(const VerifyOptions& options, const Json& bundle, Verification& all) {
  const std::string text = FIEL_TRY(read_text(options.bundle / "contract.toml"));
  Contract contract;
  if (!options.contract.empty()) {
    contract = FIEL_TRY(read_contract(options.contract));
    if (contract.text != text) {
      all.accuracy.details.push_back(fmt::format("judged by {}, which is not the contract that was sealed",
                                                 options.contract.string()));
    }
  } else {
    const std::string file = fields::text(bundle, "contract_file");
    if (file.empty()) {
      return fail(ErrorKind::kUsage, "the bundle does not say where its contract lay", "name it with --contract");
    }
    contract = FIEL_TRY(parse_contract(text, file));
  }
  contract.fleet = {};           // the question is asked of this machine
  contract.calibration.clear();  // nothing is calibrated again, and no variant made
  for (VariantFile& file : contract.variants) file.model.clear();
  if (!options.data.empty()) move_data(contract, options.data);
  if (!options.model.empty()) contract.model = options.model;
  return contract;
}

Check look_at_environment(const Contract& contract, const Json& bundle, int cancel_fd) {
  const std::string name = fields::text(bundle, "engine");
  const auto target = std::ranges::find(contract.engines, name, &EngineTarget::name);
  if (target == contract.engines.end()) {
    return {.word = CheckWord::kFailed, .message = fmt::format("the contract has no engine {}", name), .details = {}};
  }
  const EngineFound found = find_engine(*target, cancel_fd);
  if (!found.hello) {
    return {.word = CheckWord::kFailed, .message = fmt::format("engine {} does not work here: {}", name, found.problem),
            .details = {}};
  }
  std::vector<int> cores;
  for (const Json& core : fields::member(bundle, "cores")) {
    if (core.is_number_integer()) cores.push_back(core.get<int>());
  }
  Check check{.word = CheckWord::kPassed,
              .message = fmt::format("{} {} on {}, as it was measured", name, found.hello->version, this_machine().cpu),
              .details = environment_differences(bundle, {.machine = this_machine(), .missing_cores = missing_cores(cores),
                                                          .engine = *found.hello})};
  if (check.details.empty()) return check;
  check.word = CheckWord::kFailed;
  check.message = "the artifact and its figures are bound to another environment: tune again here";
  return check;
}

std::optional<SealedSpeed> sealed_speed(const Json& bundle) {
  const Json& speedup = fields::member(fields::member(bundle, "evidence"), "speedup");
  const Json& comparator = fields::member(bundle, "comparator");
  const auto estimate = fields::number(speedup, "estimate");
  if (!estimate || comparator.is_null()) return std::nullopt;
  const auto roles = fields::texts(comparator, "roles");
  const bool baseline = std::ranges::find(roles, "baseline") != roles.end();
  return SealedSpeed{.over = fields::text(comparator, "route"),
                     .role = baseline ? "baseline" : "comparator",
                     .estimate = *estimate,
                     .low = fields::number(speedup, "low"),
                     .high = fields::number(speedup, "high"),
                     .sessions = fields::integer(speedup, "sessions").value_or(0)};
}

}  // namespace

std::string_view to_string(CheckWord word) {
  switch (word) {
    case CheckWord::kPassed: return "passed";
    case CheckWord::kFailed: return "failed";
    case CheckWord::kUndecided: return "undecided";
    case CheckWord::kNotChecked: return "not_checked";
  }
  return "not_checked";
}

Result<Verification> verify_bundle(const VerifyOptions& options, ProgressSink& progress, int cancel_fd) {
  Verification all;
  const auto leave_out = [&](std::initializer_list<Check*> checks, const std::string& why) {
    for (Check* check : checks) {
      if (check->message.empty()) check->message = "not checked: " + why;
    }
    return all;
  };
  const SealFound seal = FIEL_TRY(look_at_seal(options.bundle));
  all.seal = seal.check;
  if (!seal.may_compare) {
    return leave_out({&all.environment, &all.accuracy, &all.speed}, "what it would be held against is not as it was sealed");
  }
  all.bundle_json = FIEL_TRY(read_text(options.bundle / "bundle.json"));
  const Json bundle = fields::parsed(all.bundle_json);
  all.sealed_speed = sealed_speed(bundle);
  auto contract = contract_of(options, bundle, all);
  if (!contract) {
    all.trouble = std::move(contract).error();
    return leave_out({&all.environment, &all.accuracy, &all.speed}, "no contract to go by");
  }
  progress.stage("environment", fields::text(bundle, "engine"));
  all.environment = look_at_environment(*contract, bundle, cancel_fd);
  if (!seal.may_run) return leave_out({&all.accuracy, &all.speed}, "an artifact that is not as it was sealed is not run");
  if (options.depth == VerifyOptions::Depth::kQuick) return leave_out({&all.accuracy, &all.speed}, "--quick");
  progress.stage("prepare", fmt::format("reading {} and its data", contract->model.string()));
  auto workshop = OneOffWithHoldout::create(*std::move(contract),
                                            {.seed = options.seed, .progress = progress, .cancel_fd = cancel_fd});
  auto examined = workshop ? examine_bundle(*std::move(workshop), options.bundle, all)
                           : Result<>(std::unexpected(std::move(workshop).error()));
  if (examined) return all;
  if (examined.error().kind == ErrorKind::kCancelled) return std::unexpected(std::move(examined).error());
  all.trouble = std::move(examined).error();
  return leave_out({&all.accuracy, &all.speed}, all.trouble->message);
}

}  // namespace fiel
