#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest.h"
#include "cli/command.h"
#include "embedded/help_pages.h"

namespace fiel {
namespace {

// "# The contract" -> "The contract".
std::string_view heading_of(std::string_view page) {
  const std::string_view line = page.substr(0, page.find('\n'));
  return line.substr(std::min(line.find_first_not_of("# "), line.size()));
}

std::string list_of_topics() {
  std::string text = "Pages (fiel help TOPIC):\n";
  for (const HelpPage& page : help_pages()) text += fmt::format("  {:<18}{}\n", page.topic, heading_of(page.text));
  return text + "Commands: fiel COMMAND --help; all of them: fiel --help\n";
}

Result<std::string> help_on(const std::string& topic, const CLI::App& app) {
  std::vector<std::string> known;
  for (const HelpPage& page : help_pages()) {
    if (page.topic == topic) return std::string(page.text);
    known.emplace_back(page.topic);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == topic) return command->help(app.get_name());
    known.push_back(command->get_name());
  }
  return fail(ErrorKind::kUsage, fmt::format("no page and no command is called \"{}\"", topic), did_you_mean(topic, known));
}

// As a closed set, which `fiel completion` reads; a word that is not in it is answered with the nearest that is.
std::string topics_type(const CLI::App& app) {
  std::vector<std::string> known;
  for (const HelpPage& page : help_pages()) known.emplace_back(page.topic);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) known.push_back(command->get_name());
  return fmt::format("TEXT:{{{}}}", fmt::join(known, ","));
}

}  // namespace

void add_help(CLI::App& app, Cli& cli) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "The pages of the documentation, and how commands are used");
  command->add_option("TOPIC", *topic, "a page or a command; without one: what there is")->type_name(topics_type(app));
  command->callback([topic, &app, &cli] {
    const auto text = topic->empty() ? Result<std::string>(list_of_topics()) : help_on(*topic, app);
    cli.status = text ? print_result(*text) : report_error(text.error());
  });
}

}  // namespace fiel
