#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/outcome.h"
#include "tune/run.h"

namespace fiel {
namespace {

struct ResumeArguments {
  std::string folder;
  std::string launcher;
  bool json = false;
  bool json_lines = false;
};

Result<ExitStatus> run_resume(const ResumeArguments& arguments, const Cli& cli) {
  const auto folder = std::filesystem::absolute(arguments.folder);
  std::vector<std::string> launcher;
  if (!arguments.launcher.empty()) {
    auto words = launcher_words(arguments.launcher);
    if (!words) return std::unexpected(std::move(words).error().with_context("--launch"));
    launcher = *std::move(words);
  }
  return tell_run(folder, form_of(arguments.json, arguments.json_lines),
                  [&](ProgressSink& progress) { return resume_run(folder, launcher, progress, cli.cancel_fd); });
}

}  // namespace

void add_resume(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ResumeArguments>();
  CLI::App* command = app.add_subcommand("resume", "Go on with a run where it stopped: same seed, same decisions");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  command->add_option("--launch", arguments->launcher, "another launcher than the run's own (docs/fleet.md)");
  add_output_flags(*command, arguments->json, arguments->json_lines);
  command->callback([arguments, &cli] {
    cli.status = end_of(run_resume(*arguments, cli));
  });
}

}  // namespace fiel
