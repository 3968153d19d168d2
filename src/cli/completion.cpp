#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace fiel {
namespace {

struct Flag {
  std::vector<std::string> names;    // "-o", "--output"
  std::string words;                 // what it is for, on one line
  bool takes_value = false;
  std::vector<std::string> choices;  // closed sets of values; none: a file's name
};

// What has no name and stands in its place: "CONTRACT".
struct Place {
  std::string words;
  bool repeats = false;
  std::vector<std::string> choices;
};

struct Command {
  std::string name;
  std::string words;
  std::vector<Flag> flags;
  std::vector<Place> places;
};

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// A closed set stands in the option's type: "TEXT:{auto,full}".
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const auto open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string list = type.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    choices.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{.name = one->get_name(), .words = on_one_line(one->get_description()), .flags = {}, .places = {}};
    for (const CLI::Option* option : one->get_options()) {
      Flag flag{.names = {}, .words = on_one_line(option->get_description()), .takes_value = option->get_items_expected_max() > 0,
                .choices = choices_of(option->get_type_name())};
      for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
      if (flag.names.empty()) {
        command.places.push_back({.words = flag.words, .repeats = option->get_expected_max() > 1, .choices = flag.choices});
      } else {
        command.flags.push_back(std::move(flag));
      }
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

// 'text' for any of the three shells; in fish a backslash needs one more.
std::string quoted_for(const std::string& text, Shell shell) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += shell == Shell::kFish ? "\\'" : "'\\''";
    else if (c == '\\' && shell == Shell::kFish) result += "\\\\";
    else result += c;
  }
  return result + "'";
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string values, words;
  for (const Command& command : commands) {
    std::vector<std::string> flags, places;
    for (const Flag& flag : command.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      for (const std::string& name : flag.names) {
        if (!flag.takes_value) continue;
        values += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name, name, fmt::join(flag.choices, " "));
      }
    }
    // Where none of them fits, bash itself completes a file's name.
    for (const Place& place : command.places) places.insert(places.end(), place.choices.begin(), place.choices.end());
    words += fmt::format("    {}) flags=\"{}\"; words=\"{}\" ;;\n", command.name, fmt::join(flags, " "), fmt::join(places, " "));
  }
  return fmt::format(R"(# bash completion for fiel: source <(fiel completion bash)
_fiel() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= flags= words= word
  # "--output=x" comes in three words.
  if [[ $current == = ]]; then current=
  elif [[ $before == = ]] && (( COMP_CWORD > 1 )); then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == -* ]] || {{ command=$word; break; }}
  done
  # The value of an option, where it takes one; no words: a file's name.
  case "$command $before" in
{}    *)
    case "$command" in
    "") flags="--help --version"; words="{}" ;;
{}    esac ;;
  esac
  [[ $current == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _fiel fiel
)", values, fmt::join(names_of(commands), " "), words);
}

// _arguments takes "[" "]" and ":" for its own.
std::string zsh_words(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// One name of an option: "(-o --output)--output=[run folder]:value:_files". Both names exclude each other; a value may follow
// in the same word.
std::string zsh_option(const Flag& flag, const std::string& name) {
  std::string spec = flag.names.size() > 1 ? fmt::format("({})", fmt::join(flag.names, " ")) : "";
  spec += name;
  if (flag.takes_value) spec += name.starts_with("--") ? "=" : "+";
  spec += fmt::format("[{}]", zsh_words(flag.words));
  if (!flag.takes_value) return spec;
  return spec + (flag.choices.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(flag.choices, " ")));
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string list, cases;
  for (const Command& command : commands) {
    list += fmt::format("    {}\n", quoted_for(command.name + ":" + zsh_words(command.words), Shell::kZsh));
    std::string specs;
    for (const Flag& flag : command.flags) {
      for (const std::string& name : flag.names) specs += " " + quoted_for(zsh_option(flag, name), Shell::kZsh);
    }
    int number = 0;
    for (const Place& place : command.places) {
      ++number;
      const std::string at = place.repeats ? "*" : std::to_string(number);
      const std::string what = place.choices.empty() ? "_files" : fmt::format("({})", fmt::join(place.choices, " "));
      specs += " " + quoted_for(fmt::format("{}:{}:{}", at, zsh_words(place.words), what), Shell::kZsh);
    }
    cases += fmt::format("    {}) _arguments{} ;;\n", command.name, specs);
  }
  return fmt::format(R"(#compdef fiel
# zsh completion for fiel: source <(fiel completion zsh), after compinit; or as a file _fiel in a folder of $fpath
_fiel() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    if [[ $PREFIX == -* ]]; then _arguments '--help[how it is used]' '--version[of the programs]'
    else _describe command commands; fi
    return
  fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
{}  esac
}}
if [[ ${{funcstack[1]-}} == _fiel ]]; then _fiel "$@"; else compdef _fiel fiel; fi
)", list, cases);
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string lines = "# fish completion for fiel: fiel completion fish | source\n";
  for (const Command& command : commands) {
    lines += fmt::format("complete -c fiel -n __fish_use_subcommand -f -a {} -d {}\n", command.name, quoted_for(command.words, Shell::kFish));
  }
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) {
      std::string line = fmt::format("complete -c fiel -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : flag.names) line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (flag.takes_value) line += " -r";
      if (!flag.choices.empty()) line += fmt::format(" -f -a '{}'", fmt::join(flag.choices, " "));
      lines += fmt::format("{} -d {}\n", line, quoted_for(flag.words, Shell::kFish));
    }
    for (const Place& place : command.places) {
      if (place.choices.empty()) continue;
      // A file's name may stand in another place of the same command.
      const char* files = command.places.size() == 1 ? " -f" : "";
      lines += fmt::format("complete -c fiel -n '__fish_seen_subcommand_from {}'{} -a '{}' -d {}\n", command.name, files,
                           fmt::join(place.choices, " "), quoted_for(place.words, Shell::kFish));
    }
  }
  return lines;
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  const auto commands = commands_of(app);
  switch (shell) {
    case Shell::kBash: return bash_script(commands);
    case Shell::kZsh: return zsh_script(commands);
    case Shell::kFish: return fish_script(commands);
  }
  return {};
}

}  // namespace fiel
