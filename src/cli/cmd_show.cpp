#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/outcome.h"

namespace fiel {

void add_show(CLI::App& app, Cli& cli) {
  struct Arguments {
    std::string folder;
    bool json = false;
    bool all = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("show", "The result of a run, finished or going on");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  command->add_flag("--json", arguments->json, "everything, as one JSON document");
  command->add_flag("--all", arguments->all, "every candidate, the rejected ones with their reasons");
  command->callback([arguments, &cli] {
    const auto form = arguments->json ? OutputForm::kJson : OutputForm::kText;
    auto text = describe_run(std::filesystem::absolute(arguments->folder), form, arguments->all);
    cli.status = text ? print_result(*text) : report_error(text.error());
  });
}

}  // namespace fiel
