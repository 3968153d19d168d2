#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/outcome.h"
#include "cli/target.h"
#include "report/targets.h"
#include "search/strategy.h"
#include "tune/run.h"

namespace fiel {
namespace {

struct TuneArguments {
  std::string target;
  std::string data;
  std::string folder;
  std::string budget;
  std::string strategy = "auto", strategy_program;
  std::string routes;
  std::string start_from;
  std::string launcher;
  int workers = 0;
  std::vector<std::string> targets;
  std::int64_t candidates = 0;
  std::uint64_t seed = 1;
  bool json = false;
  bool json_lines = false;
  bool dry_run = false;
};

// contract.toml -> contract.run, then contract.run-2, ...: the first that holds no run, and those before it, newest first.
struct RunFolders {
  std::filesystem::path free;
  std::vector<std::filesystem::path> earlier;
};

RunFolders run_folders(const std::filesystem::path& target) {
  const std::string stem = target.stem().string();
  RunFolders folders;
  for (int number = 1;; ++number) {
    const auto folder = std::filesystem::absolute(number == 1 ? stem + ".run" : fmt::format("{}.run-{}", stem, number));
    if (!std::filesystem::exists(folder / "run.db")) {
      folders.free = folder;
      return folders;
    }
    folders.earlier.insert(folders.earlier.begin(), folder);
  }
}

// One run a target, below one folder; what is there already is gone on with, or said again.
Result<ExitStatus> tune_targets(const Contract& contract, const TuneOptions& options, const std::vector<std::string>& names, const Cli& cli) {
  std::vector<std::string> known;
  for (const auto& [name, kind] : contract.fleet.targets) known.push_back(name);
  for (const std::string& name : names) {
    if (contract.fleet.targets.contains(name)) continue;
    return fail(ErrorKind::kUsage, fmt::format("--target: the contract has no [fleet.targets.{}]", name), did_you_mean(name, known));
  }
  ExitStatus worst = ExitStatus::kDecided;
  std::vector<TargetRun> runs;
  for (const std::string& name : names) {
    Contract one = contract;
    const FleetTarget::Kind& kind = contract.fleet.targets.at(name);
    one.fleet.target = name;
    one.fleet.launcher = kind.launcher;
    one.fleet.join = kind.join;
    TuneOptions its = options;
    its.folder = options.folder / name;
    its.earlier_runs.clear();
    const bool began = std::filesystem::exists(its.folder / "run.db");
    fmt::print(stderr, "fiel: target {}: run folder {}\n", name, say_path(its.folder));
    const auto status = tell_run(its.folder, OutputForm::kText, [&](ProgressSink& progress) {
      return began ? resume_run(its.folder, {}, progress, cli.cancel_fd) : start_run(std::move(one), its, progress, cli.cancel_fd);
    });
    const ExitStatus ended = end_of(status);  // one that fails does not keep the others from their verdicts
    if (ended == ExitStatus::kInterrupted) return ended;
    if (worst == ExitStatus::kDecided) worst = ended;
    if (auto view = read_run(its.folder)) runs.push_back({.name = name, .view = *std::move(view)});
  }
  const ExitStatus printed = print_result(targets_text(runs));
  return worst == ExitStatus::kDecided ? printed : worst;
}

Result<ExitStatus> run_tune(const TuneArguments& arguments, const Cli& cli) {
  Contract contract = FIEL_TRY(contract_of({.target = arguments.target, .data = arguments.data}, "tune", cli));
  RunFolders folders = run_folders(arguments.target);
  TuneOptions options{.folder = arguments.folder.empty() ? folders.free : std::filesystem::absolute(arguments.folder),
                      .strategy = arguments.strategy_program.empty() ? arguments.strategy : std::string(kProgram) + arguments.strategy_program,
                      .routes = arguments.routes,
                      .seed = arguments.seed,
                      .wall_seconds = {},
                      .candidates = {}};
  if (arguments.start_from.empty() && arguments.folder.empty()) options.earlier_runs = std::move(folders.earlier);
  if (!arguments.start_from.empty() && arguments.start_from != "none") options.start_from = std::filesystem::absolute(arguments.start_from);
  if (!arguments.budget.empty()) {
    auto wall = parse_duration(arguments.budget);
    if (!wall) return std::unexpected(std::move(wall).error().with_context("--budget"));
    options.wall_seconds = *wall;
  }
  if (!arguments.launcher.empty()) {
    auto words = launcher_words(arguments.launcher);
    if (!words) return std::unexpected(std::move(words).error().with_context("--launch"));
    options.launcher = *std::move(words);
  }
  if (arguments.workers > 0) options.workers = arguments.workers;
  if (arguments.candidates > 0) options.candidates = arguments.candidates;
  if (arguments.dry_run) {
    return print_result(FIEL_TRY(describe_plan(std::move(contract), options, cli.cancel_fd)));
  }
  if (!arguments.targets.empty()) return tune_targets(contract, options, arguments.targets, cli);
  fmt::print(stderr, "fiel: run folder {}\n", say_path(options.folder));
  return tell_run(options.folder, form_of(arguments.json, arguments.json_lines), [&](ProgressSink& progress) {
    return start_run(std::move(contract), options, progress, cli.cancel_fd);
  });
}

}  // namespace

void add_tune(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand("tune", "Find, prove and seal the fastest accurate way to run a model");
  command->add_option("CONTRACT", arguments->target, "contract.toml, or a model.onnx together with --data")->required();
  command->add_option("--data", arguments->data, "folder of samples, split by hash into calibration, tuning and hold-out");
  command->add_option("-o,--output", arguments->folder, "run folder (default: <contract>.run)");
  command->add_option("--budget", arguments->budget, "wall time, e.g. 15m (over the contract's)");
  command->add_option("--candidates", arguments->candidates, "build at most so many candidates in the search")
      ->check(CLI::PositiveNumber);
  command->add_option("--strategy", arguments->strategy, "auto, full, fast, mixed or random")
      ->check(CLI::IsMember({"auto", "full", "fast", "mixed", "random"}));
  command->add_option("--strategy-program", arguments->strategy_program, "a program that proposes routes, as a shell command (`fiel help adding-a-strategy`)")
      ->excludes("--strategy");
  command->add_option("--routes", arguments->routes,
                      "restrict the space: 'NUM_STREAMS=[1|2] shape=static'; knobs not named stay at their default, "
                      "'...' keeps them free");
  command->add_option("--start-from", arguments->start_from,
                      "a run whose winner is tried first, if it was proven with the same model, engine and machine; none: no such "
                      "start (default: the newest <contract>.run that has a winner, without -o)");
  command->add_option("--launch", arguments->launcher,
                      "run the workers behind this command, e.g. 'srun --exclusive --nodes=1' (over [fleet] launcher; docs/fleet.md)");
  add_output_flags(*command, arguments->json, arguments->json_lines);
  command->add_option("--target", arguments->targets,
                      "tune for this kind of machine, [fleet.targets.NAME]; again for another: a run and a verdict for each, and whether "
                      "one artifact serves all")
      ->allow_extra_args(false)
      ->excludes("--launch")
      ->excludes("--json")
      ->excludes("--json-lines");
  command->add_option("--workers", arguments->workers, "machines at a time (over [fleet] workers)")->check(CLI::Range(1, 512));
  command->add_option("--seed", arguments->seed, "same seed, same decisions")->capture_default_str();
  command->add_flag("--dry-run", arguments->dry_run, "show the space, what is decidable and the budget, then stop");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_tune(*arguments, cli));
  });
}

}  // namespace fiel
