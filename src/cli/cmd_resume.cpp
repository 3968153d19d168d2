#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "tune/run.h"

namespace fiel {
namespace {

struct ResumeArguments {
  std::string folder;
  bool json = false;
};

Result<ExitStatus> run_resume(const ResumeArguments& arguments, const Cli& cli) {
  const auto folder = std::filesystem::absolute(arguments.folder);
  StderrProgress progress;
  const auto verdict = resume_run(folder, progress, cli.cancel_fd);
  return finish_run(folder, verdict, arguments.json ? OutputForm::kJson : OutputForm::kText);
}

}  // namespace

void add_resume(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ResumeArguments>();
  CLI::App* command = app.add_subcommand("resume", "Go on with a run where it stopped: same seed, same decisions");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  command->add_flag("--json", arguments->json, "the result as one JSON document on stdout");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_resume(*arguments, cli));
  });
}

}  // namespace fiel
