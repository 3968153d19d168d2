#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "contract/init.h"
#include "model/model_file.h"
#include "tune/engines.h"

namespace fiel {
namespace {

struct InitArguments {
  std::string model;
  std::string output;
  bool script = false;
};

Result<ExitStatus> run_init(const InitArguments& arguments, const Cli& cli) {
  const OnnxModel model = FIEL_TRY(read_model(std::filesystem::absolute(arguments.model)));
  const std::string text = arguments.script ? sample_script(model) : propose_contract(model, engines_for(model, cli.cancel_fd));
  if (arguments.output.empty()) {
    const ExitStatus status = print_result(text);
    if (!arguments.script) {
      fmt::print(stderr, "fiel: this script writes samples as .npz (`fiel init {} --script` prints it alone):\n\n{}\n",
                 arguments.model, sample_script(model));
    }
    return status;
  }
  if (std::filesystem::exists(arguments.output)) {
    return fail(ErrorKind::kUsage, fmt::format("{} exists already", arguments.output), "name another file with -o");
  }
  FIEL_TRY(write_atomic(arguments.output, text));
  fmt::print(stderr, "fiel: wrote {}; edit it, then: fiel tune {}\n", arguments.output, arguments.output);
  return ExitStatus::kDecided;
}

}  // namespace

void add_init(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = app.add_subcommand("init", "Propose a contract for a model, to edit");
  command->add_option("MODEL", arguments->model, "an ONNX model, or OpenVINO IR (.xml) or TFLite")->required();
  command->add_option("-o,--output", arguments->output, "write it to a file instead of stdout");
  command->add_flag("--script", arguments->script, "print a Python script that writes samples for this model instead");
  command->callback([arguments, &cli] {
    cli.status = end_of(run_init(*arguments, cli));
  });
}

}  // namespace fiel
