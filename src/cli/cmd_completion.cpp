#include <CLI/CLI.hpp>
#include <map>

#include "cli/command.h"
#include "cli/completion.h"

namespace fiel {

void add_completion(CLI::App& app, Cli& cli) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "A script with which a shell completes fiel's commands and options");
  command->add_option("SHELL", *name, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([name, &app, &cli] {
    const Shell shell = *name == "bash" ? Shell::kBash : *name == "zsh" ? Shell::kZsh : Shell::kFish;
    cli.status = print_result(completion_script(app, shell));
  });
}

}  // namespace fiel
