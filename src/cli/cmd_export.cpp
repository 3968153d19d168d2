#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "report/bundle.h"
#include "report/run_recording.h"
#include "report/view.h"
#include "route/trtexec_route.h"

namespace fiel {
namespace {

struct ExportArguments {
  std::string folder;
  std::string output;
  std::string t4, csv;
  int candidate = 0;
  bool force = false;
  bool build_route = false;
};

Result<ExitStatus> export_recording(const std::filesystem::path& folder, const ExportArguments& arguments) {
  const std::vector<Written> records = recording_of(FIEL_TRY(read_run(folder)));
  std::string said;
  const auto write_one = [&](const std::string& file, std::string (*text_of)(std::span<const Written>)) -> Result<> {
    if (file.empty()) return {};
    const auto path = std::filesystem::absolute(file);
    FIEL_TRY(write_atomic(path, text_of(records)));
    said += fmt::format("{}: {} configurations\n", say_path(path), records.size());
    return {};
  };
  FIEL_TRY(write_one(arguments.t4, t4_text));
  FIEL_TRY(write_one(arguments.csv, csv_text));
  return print_result(said);
}

// What `trtexec --setBuildRoute=` takes; the rest of the route is told beside it, since that string has no place for it.
Result<ExitStatus> print_build_route(const ExportArguments& arguments) {
  const RunView view = FIEL_TRY(read_run(std::filesystem::absolute(arguments.folder)));
  const auto id = arguments.candidate > 0 ? std::optional(arguments.candidate) : view.ships;
  const CandidateView* candidate = view.find(id);
  if (candidate == nullptr) {
    return fail(ErrorKind::kUsage, "there is no such candidate, or the run ships none", "--candidate names one; `fiel show --all` lists them");
  }
  if (candidate->engine != "trtexec") {
    return fail(ErrorKind::kUsage, fmt::format("candidate {} is {}: only engine=trtexec has TensorRT's build routes", candidate->id, candidate->route));
  }
  std::string rest;
  for (const auto& [name, value] : candidate->settings) {
    if (!name.starts_with(kTrtexecRoutePrefix)) rest += fmt::format(" {}={}", name, value);
  }
  if (!rest.empty()) fmt::print(stderr, "fiel: beside the build route it has{}\n", rest);
  return print_result(to_trtexec_route(candidate->settings) + "\n");
}

Result<ExitStatus> run_export(const ExportArguments& arguments) {
  if (arguments.build_route) return print_build_route(arguments);
  const auto folder = std::filesystem::absolute(arguments.folder);
  if (!arguments.t4.empty() || !arguments.csv.empty()) return export_recording(folder, arguments);
  const auto output = arguments.output.empty() ? folder / "bundle" : std::filesystem::absolute(arguments.output);
  const auto candidate = arguments.candidate > 0 ? std::optional(arguments.candidate) : std::nullopt;
  const auto bundle = FIEL_TRY(write_bundle(folder, candidate, output, arguments.force ? Force::kInadmissible : Force::kNo));
  return print_result(fmt::format("{}\n", say_path(bundle)));
}

}  // namespace

void add_export(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Write the bundle: the artifact that was measured, sealed, with loaders; or the run as a recorded space");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  auto* output = command->add_option("-o,--output", arguments->output, "bundle folder (default: RUN/bundle)");
  command->add_option("--t4", arguments->t4, "no bundle: the run's candidates as a recorded space for `fiel replay`, T4 (.json)")->excludes(output);
  command->add_option("--csv", arguments->csv, "the same as a table (.csv), the last column is the cost")->excludes(output);
  command->add_option("--candidate", arguments->candidate, "another candidate than the one the verdict ships")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", arguments->force,
                    "also one that does not meet its contract; the bundle says so loudly (to be looked at, not to be used)");
  command->add_flag("--build-route", arguments->build_route, "no bundle: print the route as trtexec's --setBuildRoute takes it")
      ->excludes("--output");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_export(*arguments));
  });
}

}  // namespace fiel
