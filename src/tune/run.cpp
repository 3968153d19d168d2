#include "tune/run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/confine.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/strays.h"
#include "base/sync.h"
#include "base/units.h"
#include "tune/anchors.h"
#include "tune/engines.h"
#include "tune/last_winner.h"
#include "tune/machine_watch.h"
#include "tune/one_off.h"
#include "tune/this_machine.h"
#include "tune/tune.h"
#include "tune/version.h"
#include "tune/workshop.h"

namespace fiel {
namespace {

constexpr double kMachineSeconds = 0.2;  // twenty ticks of the kernel's CPU times

Json set_json(const std::string& digest, std::int64_t n, const std::map<std::string, std::int64_t>& slices) {
  return {{"digest", digest}, {"n", n}, {"slices", slices}};
}

// What workers can't do here, and what they can that they should not.
Json confinement_json(const Contract& contract, const KernelGuards& guards) {
  Json unconfined = Json::array();
  for (const EngineTarget& engine : contract.engines) {
    if (!engine.confine) unconfined.push_back(engine.name);
  }
  return {{"enforced", enforced_guards(guards)}, {"missing", missing_guards(guards)}, {"unconfined_engines", unconfined}};
}

// The files that evaluators and makers of variants are made of, as far as their command lines name them.
Result<Json> programs_json(const Contract& contract) {
  std::vector<std::string> words;
  for (const TaskRule& task : contract.accuracy.tasks) words.insert(words.end(), task.program.begin(), task.program.end());
  for (const VariantFile& file : contract.variants) words.insert(words.end(), file.program.begin(), file.program.end());
  Json programs = Json::object();
  for (const std::string& word : words) {
    std::error_code code;
    if (word.starts_with('/') && std::filesystem::is_regular_file(word, code)) programs[word] = FIEL_TRY(sha256_file(word));
  }
  return programs;
}

Json fleet_json(const Fleet& fleet, const Contract& contract) {
  Json json = to_json(fleet.latest()->facts);
  json["launcher"] = contract.fleet.launcher;
  json["join"] = contract.fleet.join_words();
  json["workers"] = contract.fleet.workers;
  if (!contract.fleet.target.empty()) json["target"] = contract.fleet.target;
  return json;
}

Result<Json> run_json(const TuneGround& all, const TuneOptions& options, const std::vector<MachineFact>& facts, const Fleet* fleet) {
  const Ground& ground = all.ground;
  const Contract& contract = ground.contract;
  const SampleSet& tuning = ground.tuning.get();
  const HoldoutSet& holdout = all.holdout;
  Json json = {{"fiel_version", kVersion},
               {"run_id", random_id()},
               {"seed", options.seed},
               {"strategy", options.strategy},
               {"routes", options.routes},
               {"contract_file", contract.file.string()},
               {"model", {{"path", contract.model.string()}, {"digest", ground.model.digest},
                          {"opset", ground.model.opset}, {"producer", ground.model.producer}}},
               {"machine", to_json(this_machine())},
               {"objective", to_string(contract.objective)},
               {"scenario", to_string(contract.scenario)},
               {"min_gain", contract.min_gain},
               {"confidence", contract.speed_confidence},
               {"claim", to_string(contract.accuracy.claim)},
               {"wall_seconds", options.wall_seconds.value_or(contract.budget.wall_seconds)}};
  if (fleet != nullptr) {
    json["fleet"] = fleet_json(*fleet, contract);
    json["machine"] = to_json(fleet->latest()->facts);
  }
  json["machine"]["facts"] = to_json(facts);
  json["device"] = contract.device;
  json["cores"] = contract.cores;
  json["confinement"] = confinement_json(contract, fleet == nullptr ? kernel_guards() : fleet->latest()->facts.guards);
  json["contract_digest"] = sha256_hex(contract.text);
  json["programs"] = FIEL_TRY(programs_json(contract));
  json["shapes"] = Json::array();
  for (const TrafficShape& shape : ground.shapes) {
    json["shapes"].push_back({{"weight", shape.weight}, {"inputs", shape.inputs}});
  }
  json["data"]["tuning"] = set_json(tuning.digest, static_cast<std::int64_t>(tuning.samples.size()), tuning.slice_counts());
  if (ground.calibration) json["data"]["calibration"] = set_json(ground.calibration->digest, static_cast<std::int64_t>(ground.calibration->samples.size()), ground.calibration->slice_counts());
  json["data"]["holdout"] = set_json(holdout.digest(), holdout.size(), holdout.slice_counts());
  for (const VariantFile& file : contract.variants) {
    json["variants"][file.name] = {{"path", file.model.string()}, {"digest", file.digest}};
  }
  const auto candidates = options.candidates ? options.candidates : contract.budget.candidates;
  json["candidates"] = candidates ? Json(*candidates) : Json(nullptr);
  json["executions"] = contract.budget.executions ? Json(*contract.budget.executions) : Json(nullptr);
  if (contract.budget.serving_cost_per_hour && contract.budget.tuning_cost_per_hour) {
    json["serving_cost_per_hour"] = *contract.budget.serving_cost_per_hour;
    json["tuning_cost_per_hour"] = *contract.budget.tuning_cost_per_hour;
  }
  return json;
}

// Records are bound to what they were made with: a model, data or program that changed makes them worthless.
Result<> check_unchanged(const Json& run, const TuneGround& all) {
  const Ground& ground = all.ground;
  const auto changed = [](const std::string& what) {
    return fail(ErrorKind::kContract, what + " changed since this run began",
                "its records no longer apply: start a new run (or put the old file back)");
  };
  if (run["fiel_version"] != kVersion) {
    return fail(ErrorKind::kCorrupt,
                fmt::format("this run was begun by fiel {}, this is {}", run["fiel_version"].get<std::string>(), kVersion),
                "finish it with that version, or start a new run");
  }
  if (run.value("contract_digest", "") != sha256_hex(ground.contract.text)) return changed("the run's contract.toml");
  const Json programs = FIEL_TRY(programs_json(ground.contract));
  for (const auto& [file, digest] : object_or_empty(run, "programs").items()) {
    if (digest != programs.value(file, "")) return changed(file);
  }
  if (run["model"]["digest"] != ground.model.digest) return changed(ground.contract.model.string());
  for (const VariantFile& file : ground.contract.variants) {
    if (object_or_empty(object_or_empty(run, "variants"), file.name).value("digest", "") != file.digest) {
      return changed(file.model.string());
    }
  }
  if (run["data"]["tuning"]["digest"] != ground.tuning.get().digest) return changed("the tuning set");
  if (ground.calibration && run["data"]["calibration"]["digest"] != ground.calibration->digest) {
    return changed("the calibration set");
  }
  if (run["data"]["holdout"]["digest"] != all.holdout.digest()) return changed("the hold-out set");
  const bool here = ground.contract.fleet.launcher.empty();  // else the fleet sees to it
  if (here && run["machine"]["cpu"] != this_machine().cpu) return changed("the CPU");
  return {};
}

// Routes are words of the engines' own, so the engines are asked before any work starts.
Result<> check_words(const Ground& ground, const TuneOptions& options, World& world, int cancel_fd) {
  if (ground.contract.baseline.empty() && options.routes.empty()) return {};
  std::vector<EngineSpace> spaces;
  const VariantKnob variants = variant_knob(ground.model, ground.contract);
  for (const EngineTarget& target : ground.contract.engines) {
    const EngineFound found = world.fleet == nullptr ? find_engine(target, cancel_fd) : find_engine(target, *world.fleet, options.folder);
    if (!found.hello) {
      return fail(ErrorKind::kEnvironment, fmt::format("engine {} does not work here", target.name), found.problem);
    }
    spaces.push_back(space_of(*found.hello, target.name, ground.contract, ground.shapes.size(), variants));
  }
  const Space space = FIEL_TRY(Space::create(std::move(spaces)));
  if (!ground.contract.baseline.empty()) {
    auto route = parse_route(ground.contract.baseline, space);
    if (!route) return std::unexpected(std::move(route).error().with_context(ground.contract.place("target.baseline")));
  }
  if (!options.routes.empty()) {
    auto restricted = restrict_space(space, options.routes);
    if (!restricted) return std::unexpected(std::move(restricted).error().with_context("--routes"));
  }
  return {};
}

Result<Json> winner_to_start_from(const TuneOptions& options) {
  if (!options.start_from.empty()) {
    auto winner = winner_of_run(options.start_from);
    if (!winner) return std::unexpected(std::move(winner).error().with_context("--start-from"));
    if (winner->is_object()) return winner;
    return fail(ErrorKind::kUsage, fmt::format("--start-from: the run in {} has no winner", options.start_from.string()),
                "name a run whose verdict is `improved`, or `none`");
  }
  for (const std::filesystem::path& run : options.earlier_runs) {
    if (auto winner = winner_of_run(run); winner && winner->is_object()) return winner;  // one that can't be read is no help
  }
  return Json(nullptr);
}

Verdict verdict_from(const Json& body) {
  Verdict verdict;
  verdict.word = parse_verdict_word(body.value("verdict", "")).value_or(VerdictWord::kUndecided);
  verdict.reason = body.value("reason", "");
  verdict.missing = body.value("missing", std::vector<std::string>{});
  if (body["ships"].is_number()) verdict.ships = body["ships"].get<int>();
  if (body["winner"].is_number()) verdict.winner = body["winner"].get<int>();
  return verdict;
}

// Time is booked from `began` on, so that reading model and data counts, too.
Result<Verdict> walk(World world, TuneGround all, Journal journal, const std::filesystem::path& folder, double began, ProgressSink& progress,
                     int cancel_fd) {
  const Json run = FIEL_TRY(journal.body("run"));
  FIEL_TRY(check_unchanged(run, all));
  Ledger ledger = FIEL_TRY(Ledger::open(Ledger::default_folder()));
  const auto workshop = FIEL_TRY(Workshop::create(std::move(world), std::move(all.ground), std::move(journal), folder,
                                                  run["seed"].get<std::uint64_t>(), progress, cancel_fd));
  workshop->lab().recorder.count_in(RealClock().now_seconds() - began);
  TuneInput input{.lab = workshop->lab(),
                  .holdout = all.holdout,
                  .ledger = ledger,
                  .run_id = run["run_id"].get<std::string>(),
                  .strategy = run["strategy"].get<std::string>(),
                  .routes = run["routes"].get<std::string>(),
                  .candidates = {},
                  .wall_seconds = run["wall_seconds"].get<double>(),
                  .last_run = run.contains("last_run") ? run["last_run"].dump() : ""};
  if (run["candidates"].is_number()) input.candidates = run["candidates"].get<std::int64_t>();
  return tune(input);
}

// A machine of the fleet, waited for now, so that the run is bound to its kind.
Result<> come_to_a_machine(Fleet& fleet) {
  const auto place = fleet.place();
  const auto* failure = std::get_if<Failure>(&place);
  if (failure == nullptr) return {};
  if (failure->kind == FailureKind::kCancelled) return fail(ErrorKind::kCancelled, "interrupted");
  return fail(ErrorKind::kEnvironment, failure->message, "docs/fleet.md says what a launcher must do; logs/fleet.log in the run folder has its words");
}

// Where this run's workers are: as it began, unless there is another launcher now.
Result<> take_fleet(Contract& contract, const Json& run, const std::vector<std::string>& launcher) {
  const Json& fleet = object_or_empty(run, "fleet");
  if (fleet.empty() && launcher.empty()) return {};
  if (fleet.empty()) {
    return fail(ErrorKind::kUsage, "this run began on this machine, and can't go on at the end of a launcher",
                "leave --launch out, or start a new run");
  }
  contract.fleet.launcher = fleet["launcher"].get<std::vector<std::string>>();
  contract.fleet.join = fleet["join"].get<std::vector<std::string>>();
  contract.fleet.workers = fleet.value("workers", 1);
  contract.fleet.target = fleet.value("target", "");
  if (launcher.empty()) return {};
  contract.fleet.launcher = launcher;
  contract.fleet.join.clear();
  return {};
}

}  // namespace

Result<Verdict> start_run(Contract contract, const TuneOptions& options, ProgressSink& progress, int cancel_fd) {
  const double began = RealClock().now_seconds();
  FIEL_TRY(ensure_folder(options.folder));
  const auto lock = FIEL_TRY(FileLock::acquire(options.folder / "run.lock"));
  if (std::filesystem::exists(options.folder / "run.db")) {
    return fail(ErrorKind::kUsage, fmt::format("{} holds a run already", options.folder.string()),
                "`fiel resume` goes on with it; or name another folder with -o");
  }
  for (const EngineTarget& engine : contract.engines) FIEL_TRY(worker_command(engine));
  if (!options.launcher.empty()) {
    contract.fleet.launcher = options.launcher;
    contract.fleet.join.clear();
  }
  if (contract.fleet.launcher.empty() && !contract.fleet.targets.empty()) {
    return fail(ErrorKind::kUsage, "the contract's [fleet] has targets and no launcher of its own",
                "name one or several: --target " + contract.fleet.targets.begin()->first);
  }
  if (options.workers && contract.fleet.launcher.empty()) {
    return fail(ErrorKind::kUsage, "--workers: there is no launcher", "--launch 'srun --exclusive --nodes=1', or [fleet] in the contract");
  }
  if (options.workers) contract.fleet.workers = *options.workers;
  FIEL_TRY(check_cores(contract));
  const Json last_run = FIEL_TRY(winner_to_start_from(options));
  progress.stage("prepare", fmt::format("reading model and data of {}", contract.file.string()));
  const MachineWatch watch;
  FIEL_TRY(write_atomic(options.folder / "contract.toml", contract.text));
  TuneGround all = FIEL_TRY(lay_tune_ground(std::move(contract), options.folder / "data", progress));
  World world = real_world(all.ground.contract, options.folder, progress, cancel_fd);
  if (world.fleet != nullptr) FIEL_TRY(come_to_a_machine(*world.fleet));
  FIEL_TRY(check_words(all.ground, options, world, cancel_fd));
  // Of this machine, which is not the one that is measured where there is a fleet.
  auto facts = FIEL_TRY(watch.facts(kMachineSeconds, cancel_fd));
  if (world.fleet != nullptr) facts.clear();
  tell_about(facts, progress);
  // The journal appears last: a folder without one holds no run, whatever else lies in it.
  Journal journal = FIEL_TRY(Journal::create(options.folder / "run.db"));
  Json run = FIEL_TRY(run_json(all, options, facts, world.fleet));
  if (last_run.is_object()) run["last_run"] = last_run;
  FIEL_TRY(journal.append("run", "run", run, 0));
  FIEL_TRY(sync_folder(std::filesystem::absolute(options.folder).lexically_normal() / ".."));
  return walk(std::move(world), std::move(all), std::move(journal), options.folder, began, progress, cancel_fd);
}

Result<Verdict> resume_run(const std::filesystem::path& folder, const std::vector<std::string>& launcher, ProgressSink& progress,
                           int cancel_fd) {
  const double began = RealClock().now_seconds();
  if (!std::filesystem::exists(folder / "run.db")) {
    return fail(ErrorKind::kUsage, fmt::format("{} holds no run", folder.string()), "`fiel tune` starts one");
  }
  const auto lock = FIEL_TRY(FileLock::acquire(folder / "run.lock"));
  end_strays(folder / "scratch");
  FIEL_TRY(remove_tree(folder / "scratch"));  // a run that was killed leaves it, also one that had its verdict
  Journal journal = FIEL_TRY(Journal::open(folder / "run.db"));
  if (journal.find("verdict") != nullptr) return verdict_from(FIEL_TRY(journal.body("verdict")));
  const auto run = journal.body("run");
  if (!run) {
    return fail(ErrorKind::kUsage, fmt::format("the run in {} was stopped before it began", folder.string()),
                "remove the folder and start it again with `fiel tune`");
  }
  progress.stage("resume", fmt::format("{} events recorded", journal.events().size()));
  const std::string text = FIEL_TRY(read_text(folder / "contract.toml"));
  Contract contract = FIEL_TRY(parse_contract(text, (*run)["contract_file"].get<std::string>()));
  FIEL_TRY(take_fleet(contract, *run, launcher));
  TuneGround all = FIEL_TRY(lay_tune_ground(std::move(contract), folder / "data", progress));
  World world = real_world(all.ground.contract, folder, progress, cancel_fd);
  if (world.fleet != nullptr) world.fleet->bind((*run)["machine"]["cpu"].get<std::string>(), (*run)["machine"]["cores"].get<std::int64_t>());
  return walk(std::move(world), std::move(all), std::move(journal), folder, began, progress, cancel_fd);
}

Result<std::string> describe_plan(Contract contract, const TuneOptions& options, int cancel_fd) {
  SilentProgress progress;
  OneOffWithHoldout all = FIEL_TRY(OneOffWithHoldout::create(
      std::move(contract), {.seed = options.seed, .progress = progress, .cancel_fd = cancel_fd}));
  const HoldoutSet& holdout = all.holdout;
  Lab& lab = all.one.lab();
  const Ground& ground = all.one.ground();
  FIEL_TRY(meet_engines(lab));
  Space space = *lab.space;
  if (!options.routes.empty()) space = FIEL_TRY(restrict_space(space, options.routes));
  std::string text = fmt::format("model     {} ({})\n", ground.contract.model.string(),
                                 ground.model.opset > 0 ? fmt::format("opset {}", ground.model.opset) : ground.model.producer);
  for (const ModelPort& port : ground.model.inputs) text += "  input   " + describe(port) + "\n";
  for (const ModelPort& port : ground.model.outputs) text += "  output  " + describe(port) + "\n";
  text += fmt::format("data      tuning {}, hold-out {} samples\n", ground.tuning.get().samples.size(), holdout.size());
  text += fmt::format("space     {:.4g} routes\n", space.size());
  for (const EngineSpace& engine : space.engines()) {
    text += fmt::format("  {} {}: {} knobs\n", engine.engine, lab.engines.at(engine.engine).hello.version,
                        engine.knobs.size());
  }
  const Ledger ledger = FIEL_TRY(Ledger::open(Ledger::default_folder()));
  const int openings = FIEL_TRY(ledger.openings(holdout));
  const double alpha = first_alpha(ground.contract, openings);
  const auto lines = undecidable(ground.contract, holdout.units(), alpha);
  const bool future = ground.contract.accuracy.claim == Claim::kFutureData;
  text += fmt::format("proof     hold-out opened {} times before; the first nominee is judged at {:.3g} % error\n", openings,
                      100 * alpha);
  if (!future) text += "          claim = \"this_set\": speaks of these samples only\n";
  if (future && lines.empty()) text += "          zero losses would prove every task and slice\n";
  for (const Undecidable& line : lines) {
    if (!future) break;
    text += fmt::format("          UNDECIDABLE: {}\n", describe(line));
  }
  const double wall = options.wall_seconds.value_or(ground.contract.budget.wall_seconds);
  text += fmt::format("budget    {}\n", format_duration(wall));
  if (const auto& executions = ground.contract.budget.executions) {
    // What tuning costs is paid back when executions x saved seconds reaches it (same price on both sides unless given).
    const double price = ground.contract.budget.tuning_cost_per_hour.value_or(1) /
                         ground.contract.budget.serving_cost_per_hour.value_or(1);
    text += fmt::format("pays off  if each of {} executions becomes {} faster\n", *executions,
                        format_duration(wall * price / static_cast<double>(*executions)));
  }
  return text;
}

}  // namespace fiel
