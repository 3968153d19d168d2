#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "tune/import_trtexec.h"

namespace fiel {
namespace {

constexpr const char* kFooter = R"(
FORM is trtexec-cache: what trtexec of TensorRT 11.1 and newer wrote for --tuningCacheFile. It becomes a run that `fiel show`
reads. Nothing in it is decided: the cache holds one mean time and one loss for each route, and neither outputs nor samples.
What can be seen to have failed is said to have failed, a loss that is no number included; the rest is undecided, with the reason.)";

struct ImportArguments {
  std::string form, file, output;
};

Result<ExitStatus> run_import(const ImportArguments& arguments) {
  const std::filesystem::path file = std::filesystem::absolute(arguments.file);
  const auto folder = arguments.output.empty() ? std::filesystem::absolute(file.stem()) : std::filesystem::absolute(arguments.output);
  const ImportedRun imported = FIEL_TRY(import_trtexec_cache(file, folder));
  return print_result(fmt::format("{}\n{} candidates, {} of which can't be judged by what the cache says: fiel show {}\n", say_path(folder),
                                  imported.candidates, imported.not_judged, say_path(folder)));
}

}  // namespace

void add_import(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import", "What another tuner measured, as a run to be shown");
  command->add_option("FORM", arguments->form, "trtexec-cache")->required()->check(CLI::IsMember({"trtexec-cache"}));
  command->add_option("FILE", arguments->file, "the other tuner's file")->required();
  command->add_option("-o,--output", arguments->output, "run folder (default: FILE's name without its ending, here)");
  command->footer(kFooter);
  command->callback([arguments, &cli] { cli.status = end_of(run_import(*arguments)); });
}

}  // namespace fiel
