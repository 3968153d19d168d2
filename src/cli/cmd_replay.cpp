#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "replay/replay.h"
#include "replay/stopping.h"

namespace fiel {
namespace {

constexpr const char* kReplayFooter = R"(
SPACE is a recording: T4 (.json, .json.gz), CSV (last column = cost, smaller is better; a row counts one second), or fiel's
own (.jsonl). A first visit of a configuration advances a virtual clock by the time recorded for it, failures included;
only recorded configurations can be asked for.

The score: 0 is calculated random search, 1 the optimum at once (Willemsen et al. 2024); see docs/search.md.)";

struct ReplayArguments {
  std::string space, strategy = "auto", noise = "none", start;
  int repeats = 100, timings = 3;
  std::int64_t evaluations = 250;
  std::uint64_t seed = 1;
  double spread = 1;
  bool json = false, dump = false, stopping = false;
};

Result<ExitStatus> run_replay(const ReplayArguments& arguments) {
  const Recording recording = FIEL_TRY(read_recording(arguments.space));
  if (arguments.dump) return print_result(recording_json(recording).dump() + "\n");
  ReplayOptions options{.each = {.strategy = arguments.strategy,
                                 .seed = arguments.seed,
                                 .evaluations = arguments.evaluations,
                                 .noise = arguments.noise == "recorded" ? Noise::kRecorded : Noise::kNone,
                                 .timings = arguments.timings},
                        .repeats = arguments.repeats};
  if (!arguments.start.empty()) options.start = arguments.start == "random" ? StartAt::kRandom : StartAt::kDefault;
  if (options.start == StartAt::kDefault && !recording.default_route) {
    return fail(ErrorKind::kUsage, fmt::format("{} does not say which configuration is the default", recording.name), "leave --start out");
  }
  if (arguments.stopping) {
    const StoppingSummary summary = FIEL_TRY(replay_stopping(recording, {.replay = options, .spread = arguments.spread}));
    return print_result(arguments.json ? stopping_json(summary).dump(1) + "\n" : stopping_text(summary));
  }
  const ReplaySummary summary = FIEL_TRY(replay(recording, options));
  return print_result(arguments.json ? replay_json(summary).dump(1) + "\n" : replay_text(summary));
}

}  // namespace

void add_replay(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand("replay", "A search strategy on a recorded space, no engine needed");
  command->add_option("SPACE", arguments->space, "recording: .json, .json.gz, .csv or .jsonl")->required();
  std::string names;
  for (const auto name : strategy_names()) names += (names.empty() ? "" : ", ") + std::string(name);
  command->add_option("--strategy", arguments->strategy, names)->capture_default_str();
  command->add_option("--repeats", arguments->repeats, "searches, each with a seed of its own")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  command->add_option("--evaluations", arguments->evaluations, "of each search, at least")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  command->add_option("--seed", arguments->seed, "master seed")->capture_default_str();
  command->add_option("--start", arguments->start, "default, random: where one-off changes start")->check(CLI::IsMember({"default", "random"}));
  command->add_option("--noise", arguments->noise, "none; recorded: timings drawn from the recorded ones, each paid for")
      ->check(CLI::IsMember({"none", "recorded"}))
      ->capture_default_str();
  command->add_option("--timings", arguments->timings, "with --noise recorded: drawn per visit, their median is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI::Option* stopping = command->add_flag("--stopping", arguments->stopping,
                                            "where the search would end by its own rules, for plans of 0 to 1e9 executions and for none, "
                                            "beside the best fixed number of trials");
  command->add_option("--spread", arguments->spread, "with --stopping: costs made to differ by up to so many times")
      ->check(CLI::Range(1.0, 1e6))
      ->needs(stopping);
  command->add_flag("--json", arguments->json, "the result as one JSON document");
  command->add_flag("--dump", arguments->dump, "no search: the recorded space as one JSON document");
  command->footer(kReplayFooter);
  command->callback([arguments, &cli] { cli.status = end_of(run_replay(*arguments)); });
}

}  // namespace fiel
