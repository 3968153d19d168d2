#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "report/html.h"

namespace fiel {
namespace {

struct ReportArguments {
  std::string folder;
  std::string file;
};

// "-" is stdout, as elsewhere; a page beside the run's journal needs no name.
Result<ExitStatus> run_report(const ReportArguments& arguments) {
  const auto folder = std::filesystem::absolute(arguments.folder);
  const RunView view = FIEL_TRY(read_run(folder));
  const std::string text = format_html(view);
  if (arguments.file == "-") return print_result(text);
  const std::filesystem::path file = arguments.file.empty() ? folder / "report.html" : std::filesystem::path(arguments.file);
  FIEL_TRY(write_atomic(file, text));
  fmt::print(stderr, "fiel: {}{}\n", say_path(file), view.verdict.empty() ? " (the run has no verdict yet)" : "");
  return ExitStatus::kDecided;
}

}  // namespace

void add_report(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "The result as one HTML page, finished or going on");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  command->add_option("-o,--output", arguments->file, "file to write, - for stdout (default: RUN/report.html)");
  command->callback([arguments, &cli] { cli.status = end_of(run_report(*arguments)); });
}

}  // namespace fiel
