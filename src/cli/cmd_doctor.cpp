// doctor: is this machine quiet enough, and how small a gain could be proven here? What the machine says of itself, then an
// A/A in the sessions that tune proves with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/target.h"
#include "tune/built_in_loop.h"
#include "tune/machine_watch.h"
#include "tune/one_off.h"
#include "tune/single.h"
#include "tune/twins.h"

namespace fiel {
namespace {

constexpr double kLookSeconds = 1.0;
constexpr std::array<double, 3> kProofMinutes = {1, 5, 20};

constexpr const char* kDoctorFooter = R"(
Without a contract or model a built-in loop on one core is timed. With one, the baseline's artifact is built, judged, and
timed against itself under two names.

Exit status: 0 this machine can be trusted now (or --time 0s: only looked at); 3 it can't: one of two names of the same
artifact won, more than a fifth of the rounds were rejected, or sessions vary by more than 5 %.
8 the baseline is outside the contract, so there is nothing to time.)";

struct DoctorArguments {
  Target target;
  std::string time = "1m";
  bool json = false;
  std::uint64_t seed = 1;
};

std::string_view sign_of(Mark mark) {
  switch (mark) {
    case Mark::kOk: return "ok";
    case Mark::kCouldBeBetter: return "could be better";
    case Mark::kBad: return "BAD";
    case Mark::kUnknown: return "-";
  }
  return "-";
}

std::string facts_text(const std::vector<MachineFact>& facts) {
  std::string text;
  for (const MachineFact& fact : facts) {
    text += fmt::format("{:<28} {:<15}  {}\n", fact.label, sign_of(fact.mark), fact.value);
  }
  std::string advice;
  for (const MachineFact& fact : facts) {
    if (!fact.advice.empty()) advice += fmt::format("  {}: {}\n", fact.label, fact.advice);
  }
  return advice.empty() ? text : text + "\nwhat would help\n" + advice;
}

std::string provable_text(const Provable& provable) {
  const std::string time = fmt::format("{:.0f} min of proof, {} sessions", provable.seconds / 60, provable.sessions);
  if (!provable.gain) return fmt::format("  {:<32} none\n", time);
  return fmt::format("  {:<32} {:.2g} %\n", time, 100 * *provable.gain);
}

std::string twins_text(const TwinTimes& times, const NoiseFloor& floor, const std::vector<Provable>& provable,
                       const Contract& contract) {
  std::string text = fmt::format("\nA/A: {} against itself, {} sessions of fresh process pairs ({} each), {} rounds, {} of them rejected\n",
                                 times.route, times.sessions, format_duration(times.seconds_per_session), times.rounds,
                                 times.rejected_rounds);
  if (floor.deviation) {
    text += fmt::format("  sessions vary by {:.2g} % (standard deviation of the log-ratio, n = {})\n", 100 * *floor.deviation,
                        times.log_ratios.size());
  }
  for (const std::string& reason : floor.distrust) text += fmt::format("  NOT TRUSTED NOW: {}\n", reason);
  if (provable.empty()) return text;
  text += fmt::format("smallest gain that would be proven here in 8 of 10 cases (min_gain {:.3g} %, confidence {:.4g} %)\n",
                      100 * contract.min_gain, 100 * contract.speed_confidence);
  for (const Provable& one : provable) text += provable_text(one);
  return text;
}

Json twins_json(const TwinTimes& times, const NoiseFloor& floor, const std::vector<Provable>& provable) {
  Json gains = Json::array();
  for (const Provable& one : provable) {
    gains.push_back({{"proof_seconds", one.seconds}, {"sessions", one.sessions},
                     {"gain", one.gain ? Json(*one.gain) : Json(nullptr)}});
  }
  return {{"route", times.route},
          {"sessions", times.sessions},
          {"session_log_ratios", times.log_ratios},
          {"session_deviation", floor.deviation ? Json(*floor.deviation) : Json(nullptr)},
          {"session_seconds", times.seconds_per_session},
          {"rounds", times.rounds},
          {"rejected_rounds", times.rejected_rounds},
          {"rejected_because", times.why_rejected},
          {"trusted", floor.distrust.empty()},
          {"distrust", floor.distrust},
          {"smallest_provable_gain", gains}};
}

struct Report {
  std::string text;
  Json json;
  ExitStatus status = ExitStatus::kDecided;
};

Result<> run_twins(const DoctorArguments& arguments, double seconds, const Cli& cli, Report& report) {
  const auto folder = FIEL_TRY(TempFolder::create({}, "fiel-doctor-"));
  const bool loop = arguments.target.target.empty();
  Contract contract = loop ? FIEL_TRY(built_in_loop(folder.path())) : FIEL_TRY(contract_of(arguments.target, "doctor", cli));
  StderrProgress progress;
  OneOff one = FIEL_TRY(OneOff::create(std::move(contract),
                                       {.seed = arguments.seed, .progress = progress, .cancel_fd = cli.cancel_fd}));
  Lab& lab = one.lab();
  const CheckResult baseline = FIEL_TRY(check_baseline(lab));
  if (!baseline.admissible) {
    const CandidateState& state = lab.standing.at(baseline.id);
    report.text += fmt::format("\nno A/A: the baseline is outside the contract ({}: {})\n", to_string(state.status), state.reason);
    report.json["a_a"] = nullptr;
    report.status = ExitStatus::kInaccurate;
    return {};
  }
  lab.progress.stage("A/A", fmt::format("{}, for {}", to_string(lab.standing.at(baseline.id).route), format_duration(seconds)));
  const TwinTimes times = FIEL_TRY(time_twins(lab, baseline.id, seconds));
  const SpeedTerms terms{.min_gain = lab.contract.min_gain, .confidence = lab.contract.speed_confidence};
  const NoiseFloor floor = noise_floor(times, terms);
  std::vector<Provable> provable;
  for (const double minutes : kProofMinutes) {
    if (floor.deviation && floor.distrust.empty()) provable.push_back(provable_in(60 * minutes, times, *floor.deviation, terms));
  }
  report.text += twins_text(times, floor, provable, lab.contract);
  report.json["a_a"] = twins_json(times, floor, provable);
  if (!floor.distrust.empty()) report.status = ExitStatus::kUndecided;
  return {};
}

Result<ExitStatus> run_doctor(const DoctorArguments& arguments, const Cli& cli) {
  auto seconds = parse_duration(arguments.time);
  if (!seconds) return std::unexpected(std::move(seconds).error().with_context("--time"));
  const auto facts = FIEL_TRY(MachineWatch().facts(kLookSeconds, cli.cancel_fd));
  Report report{.text = facts_text(facts), .json = {{"format", 1}, {"machine", to_json(facts)}, {"a_a", nullptr}}};
  if (*seconds > 0) FIEL_TRY(run_twins(arguments, *seconds, cli, report));
  const ExitStatus printed = print_result(arguments.json ? report.json.dump(1) + "\n" : report.text);
  return printed == ExitStatus::kDecided ? report.status : printed;
}

}  // namespace

void add_doctor(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand("doctor", "Is this machine quiet enough, and how small a gain can be proven here?");
  command->add_option("CONTRACT", arguments->target.target,
                      "contract.toml, or a model.onnx together with --data; left out: a built-in loop");
  command->add_option("--data", arguments->target.data, "folder of samples for a model");
  command->add_option("--time", arguments->time, "of the A/A, e.g. 1m; 0s leaves it out")->capture_default_str();
  command->add_flag("--json", arguments->json, "the result as one JSON document");
  command->add_option("--seed", arguments->seed, "order of samples and rounds")->capture_default_str();
  command->footer(kDoctorFooter);
  command->callback([arguments, &cli] {
    cli.status = end_of_one_off(run_doctor(*arguments, cli));
  });
}

}  // namespace fiel
