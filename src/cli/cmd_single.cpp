// check and bench: one route by itself. They share the way in and the way out, so they share a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/task_line.h"
#include "stats/e_process.h"
#include "stats/quantiles.h"
#include "tune/one_off.h"
#include "tune/propose_limits.h"
#include "tune/rebuild.h"
#include "tune/single.h"

namespace fiel {
namespace {

struct SingleArguments {
  std::string contract;
  std::string route;
  bool json = false;
  int sessions = 20;
  int rebuilds = 0;
  bool propose_limits = false;
  std::uint64_t seed = 1;
};

template <class Act>
Result<ExitStatus> in_workshop(const SingleArguments& arguments, const Cli& cli, Act act) {
  Contract contract = FIEL_TRY(read_contract(std::filesystem::absolute(arguments.contract)));
  StderrProgress progress;
  OneOff one = FIEL_TRY(OneOff::create(
      std::move(contract), {.seed = arguments.seed, .progress = progress, .cancel_fd = cli.cancel_fd}));
  return act(one.lab());
}

Json candidate_json(Lab& lab, int id) {
  const CandidateState& state = lab.standing.at(id);
  Json json = {{"route", to_string(state.route)}, {"digest", state.digest}, {"status", to_string(state.status)},
               {"reason", state.reason},          {"n", lab.tuning.get().samples.size()}};
  for (const char* event : {"build", "gate"}) {
    if (const auto body = lab.recorder.journal().body(fmt::format("candidate/{}/{}", id, event))) {
      for (const auto& [key, value] : body->items()) {
        if (key != "scores" && key != "output_bits" && key != "id") json.emplace(key, value);
      }
    }
  }
  return json;
}

std::string accuracy_text(const Json& candidate) {
  std::string text = fmt::format("{}\n  {}{}\n", candidate["route"].get<std::string>(),
                                 candidate["status"].get<std::string>(),
                                 candidate["reason"].get<std::string>().empty() ? "" : ": " + candidate["reason"].get<std::string>());
  if (candidate.contains("effective")) {
    std::string precisions;
    for (const auto& [name, count] : candidate["effective"]["precisions"].items()) {
      precisions += fmt::format(" {} x {}", name, count.template get<std::int64_t>());
    }
    if (!precisions.empty()) text += "  ran as:" + precisions + "\n";
  }
  if (!candidate.contains("gate")) return text;
  const auto gate = gate_result_from_json(candidate["gate"]);
  if (!gate) return text;
  for (const TaskVerdict& task : gate->tasks) text += "  " + task_line(task) + "\n";
  text += "  judged on the tuning set: provisional, no proof (the hold-out is never read by this command)\n";
  return text;
}

Result<ExitStatus> run_check(const SingleArguments& arguments, const Cli& cli) {
  if (arguments.route.empty() && !arguments.propose_limits) {
    return fail(ErrorKind::kUsage, "which route?", "--route 'engine=openvino NUM_STREAMS=2', or --propose-limits");
  }
  return in_workshop(arguments, cli, [&](Lab& lab) -> Result<ExitStatus> {
    if (arguments.propose_limits) return print_result(FIEL_TRY(propose_limits(lab)).toml());
    const CheckResult result = FIEL_TRY(check_route(lab, arguments.route));
    Json candidate = candidate_json(lab, result.id);
    std::string text = accuracy_text(candidate);
    bool admissible = result.admissible;
    if (admissible && arguments.rebuilds > 0) {
      const auto builds = FIEL_TRY(rebuild(lab, result.id, arguments.rebuilds));
      candidate["rebuilds"] = to_json(builds);
      text += describe(builds);
      admissible = std::ranges::all_of(builds, &Rebuilt::admissible);
    }
    const ExitStatus printed = print_result(arguments.json ? candidate.dump(1) + "\n" : text);
    if (printed != ExitStatus::kDecided) return printed;
    return admissible ? ExitStatus::kDecided : ExitStatus::kInaccurate;
  });
}

Result<ExitStatus> run_bench(const SingleArguments& arguments, const Cli& cli) {
  return in_workshop(arguments, cli, [&](Lab& lab) -> Result<ExitStatus> {
    const BenchResult result = FIEL_TRY(bench_route(lab, arguments.route, arguments.sessions));
    Json json = {{"candidate", candidate_json(lab, result.id)}, {"faster", result.faster}, {"e_value", result.e_value},
                 {"session_log_ratios", result.log_ratios},     {"min_gain", lab.contract.min_gain},
                 {"baseline_admissible", result.baseline_admissible},
                 {"baseline", result.baseline_route}};
    std::string text = accuracy_text(json["candidate"]);
    if (result.log_ratios.empty()) {
      text += !result.admissible           ? "not timed: the time of a wrong answer means nothing\n"
              : !result.baseline_admissible ? "not timed: the baseline is outside the contract, so there is nothing to beat\n"
                                            : fmt::format("not timed: {} sessions could prove nothing even if all were won, it takes {}\n",
                                                          arguments.sessions,
                                                          stats::fewest_sessions_to_confirm(1 - lab.contract.speed_confidence));
    } else {
      const double ratio = std::exp(stats::median(result.log_ratios));
      json["ratio"] = ratio;
      text += fmt::format("{:.3f} times as fast as the baseline ({}; median of {} sessions of fresh process pairs", ratio,
                          result.baseline_route, result.log_ratios.size());
      if (const auto interval = stats::second_smallest_to_second_largest(result.log_ratios)) {
        text += fmt::format(", {:.1f} % interval [{:.3f}, {:.3f}]", 100 * interval->confidence, std::exp(interval->low),
                            std::exp(interval->high));
        json["confidence"] = interval->confidence;
        json["low"] = std::exp(interval->low);
        json["high"] = std::exp(interval->high);
      } else {
        text += ", too few for an interval";
      }
      text += fmt::format(")\n{}: E = {:.3g}, {:.0f} needed for \"faster by more than {:.3g} %\"\n",
                          result.faster ? "proven faster" : "not proven faster", result.e_value,
                          1 / (1 - lab.contract.speed_confidence), 100 * lab.contract.min_gain);
    }
    const ExitStatus printed = print_result(arguments.json ? json.dump(1) + "\n" : text);
    if (printed != ExitStatus::kDecided) return printed;
    if (!result.admissible) return ExitStatus::kInaccurate;
    return result.faster ? ExitStatus::kDecided : ExitStatus::kSlower;
  });
}

CLI::App* add_single(CLI::App& app, Cli& cli, const char* name, const char* help, SingleArguments& arguments,
                     Result<ExitStatus> (*run)(const SingleArguments&, const Cli&)) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("CONTRACT", arguments.contract, "contract.toml")->required();
  command->add_option("--route", arguments.route, "e.g. 'engine=openvino NUM_STREAMS=2'");
  command->add_flag("--json", arguments.json, "the result as one JSON document");
  command->add_option("--seed", arguments.seed, "order of samples and rounds")->capture_default_str();
  command->callback([&arguments, &cli, run] {
    cli.status = end_of_one_off(run(arguments, cli));
  });
  return command;
}

}  // namespace

void add_check(CLI::App& app, Cli& cli) {
  static SingleArguments arguments;
  add_single(app, cli, "check", "Judge one route against the accuracy contract (on the tuning set)", arguments, run_check);
  CLI::App* command = app.get_subcommand("check");
  command->add_option("--rebuilds", arguments.rebuilds, "build it so many times more: the same bytes, as accurate, as fast?")
      ->check(CLI::Range(0, 100));
  command->add_flag("--propose-limits", arguments.propose_limits,
                    "print [[accuracy.tensor]] limits from what right answers differ by; needs no --route");
}

void add_bench(CLI::App& app, Cli& cli) {
  static SingleArguments arguments;
  CLI::App* command = add_single(app, cli, "bench", "Time one route against the baseline, in interleaved fresh processes",
                                 arguments, run_bench);
  command->get_option("--route")->required();
  command->add_option("--sessions", arguments.sessions, "at most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace fiel
