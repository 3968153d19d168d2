// verify: is a bundle still what was measured, still accurate, still faster, here and now?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/task_line.h"
#include "report/fields.h"
#include "tune/verify.h"

namespace fiel {
namespace {

constexpr const char* kVerifyFooter = R"(
A regression check, not a proof: nothing is charged to the hold-out's ledger, and nothing that is said here adds to what the
run proved. Accuracy is judged by point estimates against a reference made afresh. Speed: 8 sessions of fresh process pairs
against what the bundle was proven faster than; the alarm is that at most one of them was faster by more than min_gain.

Exit status: 0 all that was checked is as it was; else the first that failed: 6 seal, 7 environment (engine, device, CPU,
cores), 8 accuracy, 9 speed. 3 the machine was too busy to time anything, 2 model or data are not there or not the same.)";

struct VerifyArguments {
  std::string bundle, contract, data, model;
  bool quick = false;
  bool json = false;
  std::uint64_t seed = 1;
};

ExitStatus status_of(const Verification& all) {
  if (all.seal.word == CheckWord::kFailed) return ExitStatus::kSealBroken;
  if (all.environment.word == CheckWord::kFailed) return ExitStatus::kOtherMachine;
  if (all.trouble) return exit_status_of(all.trouble->kind);
  if (all.accuracy.word == CheckWord::kFailed) return ExitStatus::kInaccurate;
  if (all.speed.word == CheckWord::kFailed) return ExitStatus::kSlower;
  return all.speed.word == CheckWord::kUndecided ? ExitStatus::kUndecided : ExitStatus::kDecided;
}

std::string check_text(std::string_view name, const Check& check) {
  const std::string word = check.word == CheckWord::kFailed ? "FAILED" : check.word == CheckWord::kPassed ? "ok" : "-";
  std::string text = fmt::format("{:<12} {:<6}  {}\n", name, word, check.message);
  for (const std::string& detail : check.details) text += fmt::format("{:22}{}\n", "", detail);
  return text;
}

std::string tasks_text(std::string_view set, const std::optional<GateResult>& gate) {
  if (!gate) return {};
  std::string text;
  for (const TaskVerdict& task : gate->tasks) text += fmt::format("{:22}{:<9} {}\n", "", set, task_line(task));
  return text;
}

std::string interval_words(const stats::OrderInterval& interval) {
  return fmt::format(" [{:.3f}, {:.3f}] ({:.1f} % interval)", std::exp(interval.low), std::exp(interval.high),
                     100 * interval.confidence);
}

std::string speed_text(const Verification& all) {
  if (!all.sealed_speed) return {};
  const SealedSpeed& sealed = *all.sealed_speed;
  std::string text;
  if (all.speed_now.median) {
    text += fmt::format("{:22}now   {:.3f} times as fast as the {} ({}){}, {} sessions\n", "", std::exp(*all.speed_now.median),
                        sealed.role, sealed.over, all.speed_now.interval ? interval_words(*all.speed_now.interval) : "",
                        all.log_ratios.size());
  }
  text += fmt::format("{:22}then  {:.3f} times", "", sealed.estimate);
  if (sealed.low && sealed.high) text += fmt::format(" [{:.3f}, {:.3f}]", *sealed.low, *sealed.high);
  return text + fmt::format(", {} sessions\n", sealed.sessions);
}

std::string text_of(const Verification& all) {
  const Json bundle = fields::parsed(all.bundle_json);
  const Json& candidate = fields::member(bundle, "candidate");
  std::string text = fmt::format("{}\n", kRegressionWords);
  if (!candidate.is_null()) text += fmt::format("#{} {}\n", fields::integer(candidate, "id").value_or(0), fields::text(candidate, "route"));
  text += check_text("seal", all.seal) + check_text("environment", all.environment);
  text += check_text("accuracy", all.accuracy) + tasks_text("tuning", all.tuning) + tasks_text("hold-out", all.holdout);
  return text + check_text("speed", all.speed) + speed_text(all);
}

Json check_json(const Check& check) {
  return {{"result", to_string(check.word)}, {"message", check.message}, {"details", check.details}};
}

Json speed_json(const Verification& all) {
  Json json = check_json(all.speed);
  json["session_log_ratios"] = all.log_ratios;
  json["sessions_won"] = all.speed_now.won;
  for (const char* key : {"ratio", "low", "high", "confidence", "sealed"}) json[key] = nullptr;
  if (all.speed_now.median) json["ratio"] = std::exp(*all.speed_now.median);
  if (const auto& interval = all.speed_now.interval) {
    json["low"] = std::exp(interval->low);
    json["high"] = std::exp(interval->high);
    json["confidence"] = interval->confidence;
  }
  if (!all.sealed_speed) return json;
  const SealedSpeed& sealed = *all.sealed_speed;
  json["sealed"] = {{"over", sealed.over}, {"role", sealed.role}, {"estimate", sealed.estimate}, {"sessions", sealed.sessions},
                    {"low", sealed.low ? Json(*sealed.low) : Json(nullptr)},
                    {"high", sealed.high ? Json(*sealed.high) : Json(nullptr)}};
  return json;
}

Json json_of(const Verification& all, const std::string& folder, ExitStatus status) {
  Json json = {{"format", 1},
               {"kind", kRegressionWords},
               {"bundle", folder},
               {"candidate", fields::member(fields::parsed(all.bundle_json), "candidate")},
               {"exit_status", static_cast<int>(status)},
               {"error", all.trouble ? Json(all.trouble->message) : Json(nullptr)}};
  json["checks"] = {{"seal", check_json(all.seal)}, {"environment", check_json(all.environment)},
                    {"accuracy", check_json(all.accuracy)}, {"speed", speed_json(all)}};
  json["checks"]["accuracy"]["tuning"] = all.tuning ? to_json(*all.tuning) : Json(nullptr);
  json["checks"]["accuracy"]["holdout"] = all.holdout ? to_json(*all.holdout) : Json(nullptr);
  return json;
}

std::filesystem::path absolute_or_empty(const std::string& path) {
  return path.empty() ? std::filesystem::path() : std::filesystem::absolute(path);
}

Result<ExitStatus> run_verify(const VerifyArguments& arguments, const Cli& cli) {
  const VerifyOptions options{.bundle = std::filesystem::absolute(arguments.bundle),
                              .contract = absolute_or_empty(arguments.contract),
                              .data = absolute_or_empty(arguments.data),
                              .model = absolute_or_empty(arguments.model),
                              .depth = arguments.quick ? VerifyOptions::Depth::kQuick : VerifyOptions::Depth::kFull,
                              .seed = arguments.seed};
  StderrProgress progress;
  const Verification all = FIEL_TRY(verify_bundle(options, progress, cli.cancel_fd));
  const ExitStatus status = status_of(all);
  const std::string text =
      arguments.json ? json_of(all, options.bundle.string(), status).dump(1) + "\n" : text_of(all);
  const ExitStatus printed = print_result(text);
  if (all.trouble) report_error(*all.trouble);
  return printed == ExitStatus::kDecided ? status : printed;
}

}  // namespace

void add_verify(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "Is a bundle still what was measured, still accurate, still faster, here and now?");
  command->add_option("BUNDLE", arguments->bundle, "a folder that `fiel export` wrote; it may have been moved")->required();
  command->add_option("--contract", arguments->contract,
                      "the contract, where it lies now (default: the bundle's copy, with paths from where it lay)");
  command->add_option("--data", arguments->data, "the folder that holds the contract's data folders now");
  command->add_option("--model", arguments->model, "where the model is now");
  command->add_flag("--quick", arguments->quick, "seal and environment only");
  command->add_flag("--json", arguments->json, "the result as one JSON document");
  command->add_option("--seed", arguments->seed, "order of samples and rounds")->capture_default_str();
  command->footer(kVerifyFooter);
  command->callback([arguments, &cli] {
    cli.status = end_of_one_off(run_verify(*arguments, cli));
  });
}

}  // namespace fiel
