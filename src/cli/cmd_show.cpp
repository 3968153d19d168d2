#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/outcome.h"
#include "report/tables.h"

namespace fiel {
namespace {

struct ShowArguments {
  std::string folder;
  bool json = false;
  bool csv = false;
  bool markdown = false;
  bool all = false;
};

Result<std::string> shown(const ShowArguments& arguments) {
  const auto folder = std::filesystem::absolute(arguments.folder);
  if (arguments.csv) return format_csv(FIEL_TRY(read_run(folder)));
  if (arguments.markdown) return format_markdown(FIEL_TRY(read_run(folder)));
  return describe_run(folder, arguments.json ? OutputForm::kJson : OutputForm::kText, arguments.all);
}

}  // namespace

void add_show(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "The result of a run, finished or going on");
  command->add_option("RUN", arguments->folder, "run folder")->required();
  auto* json = command->add_flag("--json", arguments->json, "everything, as one JSON document");
  auto* csv = command->add_flag("--csv", arguments->csv, "all candidates, a line each, for a spreadsheet")->excludes(json);
  command->add_flag("--markdown", arguments->markdown, "the verdict and the candidates that matter, for a comment or a page")
      ->excludes(json)->excludes(csv);
  command->add_flag("--all", arguments->all, "every candidate, the rejected ones with their reasons");
  command->callback([arguments, &cli] {
    auto text = shown(*arguments);
    cli.status = text ? print_result(*text) : report_error(text.error());
  });
}

}  // namespace fiel
