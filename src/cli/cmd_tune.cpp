#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/command.h"
#include "cli/outcome.h"
#include "cli/target.h"
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
  if (arguments.candidates > 0) options.candidates = arguments.candidates;
  if (arguments.dry_run) {
    return print_result(FIEL_TRY(describe_plan(std::move(contract), options, cli.cancel_fd)));
  }
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
  command->add_option("--seed", arguments->seed, "same seed, same decisions")->capture_default_str();
  add_output_flags(*command, arguments->json, arguments->json_lines);
  command->add_flag("--dry-run", arguments->dry_run, "show the space, what is decidable and the budget, then stop");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_tune(*arguments, cli));
  });
}

}  // namespace fiel
