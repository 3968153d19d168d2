#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "report/bundle.h"

namespace fiel {
namespace {

struct ExportArguments {
  std::string folder;
  std::string output;
  int candidate = 0;
  bool force = false;
};

Result<ExitStatus> run_export(const ExportArguments& arguments) {
  const auto folder = std::filesystem::absolute(arguments.folder);
  const auto output = arguments.output.empty() ? folder / "bundle" : std::filesystem::absolute(arguments.output);
  const auto candidate = arguments.candidate > 0 ? std::optional(arguments.candidate) : std::nullopt;
  const auto bundle = FIEL_TRY(write_bundle(folder, candidate, output, arguments.force ? Force::kInadmissible : Force::kNo));
  return print_result(fmt::format("{}\n", say_path(bundle)));
}

}  // namespace

void add_export(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Write the bundle: the artifact that was measured, sealed, with loaders");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  command->add_option("-o,--output", arguments->output, "bundle folder (default: RUN/bundle)");
  command->add_option("--candidate", arguments->candidate, "another candidate than the one the verdict ships")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", arguments->force,
                    "also one that does not meet its contract; the bundle says so loudly (to be looked at, not to be used)");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_export(*arguments));
  });
}

}  // namespace fiel
