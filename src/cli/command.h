// What every command shares: where it writes, how it fails, who may stop it. One file per command; each adds itself to the
// command line and leaves an exit status.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/exit_status.h"

namespace CLI {
class App;
}

namespace fiel {

struct Cli {
  int cancel_fd = -1;
  ExitStatus status = ExitStatus::kDecided;
};

void add_init(CLI::App& app, Cli& cli);
void add_tune(CLI::App& app, Cli& cli);
void add_resume(CLI::App& app, Cli& cli);
void add_show(CLI::App& app, Cli& cli);
void add_report(CLI::App& app, Cli& cli);
void add_compare(CLI::App& app, Cli& cli);
void add_export(CLI::App& app, Cli& cli);
void add_import(CLI::App& app, Cli& cli);
void add_verify(CLI::App& app, Cli& cli);
void add_check(CLI::App& app, Cli& cli);
void add_bench(CLI::App& app, Cli& cli);
void add_routes(CLI::App& app, Cli& cli);
void add_engines(CLI::App& app, Cli& cli);
void add_replay(CLI::App& app, Cli& cli);
void add_doctor(CLI::App& app, Cli& cli);
void add_completion(CLI::App& app, Cli& cli);
void add_help(CLI::App& app, Cli& cli);

/// Human text about an error on stderr; returns the status to exit with.
ExitStatus report_error(const Error& error);
/// The status of a command that is done; its error is told.
ExitStatus end_of(const Result<ExitStatus>& done);
/// The same of one that leaves nothing to resume: an interruption is told too.
ExitStatus end_of_one_off(const Result<ExitStatus>& done);
/// Results go to stdout; a closed pipe or a full disk is an error like any other.
ExitStatus print_result(const std::string& result);

/// Contract files and run folders as the user named them.
std::string say_path(const std::filesystem::path& path);

/// Can this stream show colours and overprinted lines? NO_COLOR and TERM=dumb say no.
bool is_terminal(int descriptor);
bool use_color(int descriptor);
int terminal_width(int descriptor);  // 80 where unknown

}  // namespace fiel
