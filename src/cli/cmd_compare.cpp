#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "report/compare.h"

namespace fiel {
namespace {

constexpr const char* kCompareFooter = R"(
Two runs may be compared where they asked the same question (model, data, traffic, accuracy, objective, limits) on the same
machine (CPU, cores) of the same engines. What else changed is listed. A run may still be going on.

Exit status: 0 they may be compared, 3 they may not (why is said; both are shown all the same).)";

struct CompareArguments {
  std::string first, second;
  bool json = false;
};

Result<ExitStatus> run_compare(const CompareArguments& arguments) {
  const RunSide first = FIEL_TRY(read_side(std::filesystem::absolute(arguments.first)));
  const RunSide second = FIEL_TRY(read_side(std::filesystem::absolute(arguments.second)));
  const ExitStatus printed =
      print_result(arguments.json ? comparison_json(first, second).dump(1) + "\n"
                                  : format_comparison(first, second, terminal_width(STDOUT_FILENO)));
  if (printed != ExitStatus::kDecided) return printed;
  return compare_runs(first, second).comparable() ? ExitStatus::kDecided : ExitStatus::kUndecided;
}

}  // namespace

void add_compare(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "May two runs be compared, and what changed?");
  command->add_option("FIRST", arguments->first, "run folder")->required();
  command->add_option("SECOND", arguments->second, "run folder")->required();
  command->add_flag("--json", arguments->json, "the result as one JSON document");
  command->footer(kCompareFooter);
  command->callback([arguments, &cli] {
    auto status = run_compare(*arguments);
    cli.status = status ? *status : report_error(status.error());
  });
}

}  // namespace fiel
