// The fiel program: commands, exit statuses, nothing else. What a command does stands in its own file; what a run does
// stands in tune/tune.cpp.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <clocale>
#include <csignal>

#include "base/interrupt.h"
#include "base/survivor.h"
#include "cli/command.h"
#include "tune/version.h"

namespace {

constexpr const char* kMainFooter = R"(
Exit status: 0 decided (improved or not improved), 2 usage, contract or data, 3 undecided (doctor: too noisy), 4 infeasible,
5 environment (engine missing, disk full), 6 seal broken (verify), 7 another environment (verify),
8 not accurate (check, bench, verify), 9 not faster (bench, verify), 130 interrupted (fiel resume goes on), 70 a bug of fiel.

Start with:  fiel init model.onnx > contract.toml     or  fiel tune model.onnx --data samples/)";

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_ALL, "C");  // numbers in files and messages do not depend on where we run
  std::signal(SIGPIPE, SIG_IGN);
  // Outputs come and go chunk by chunk: memory that is given back to the system each time has to be cleared anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const auto survivor = fiel::Survivor::start();
  if (!survivor) return static_cast<int>(fiel::report_error(survivor.error()));
  auto interrupt = fiel::Interrupt::install();
  if (!interrupt) return static_cast<int>(fiel::report_error(interrupt.error()));
  fiel::Cli cli{.cancel_fd = interrupt->cancel_fd()};
  CLI::App app("fiel finds the fastest way to run a neural network on this machine that is still accurate.", "fiel");
  app.set_version_flag("--version", fmt::format("fiel {}", fiel::kVersion));
  app.require_subcommand(1);
  app.footer(kMainFooter);
  fiel::add_init(app, cli);
  fiel::add_tune(app, cli);
  fiel::add_resume(app, cli);
  fiel::add_show(app, cli);
  fiel::add_report(app, cli);
  fiel::add_compare(app, cli);
  fiel::add_export(app, cli);
  fiel::add_import(app, cli);
  fiel::add_verify(app, cli);
  fiel::add_check(app, cli);
  fiel::add_bench(app, cli);
  fiel::add_routes(app, cli);
  fiel::add_engines(app, cli);
  fiel::add_replay(app, cli);
  fiel::add_doctor(app, cli);
  fiel::add_completion(app, cli);
  fiel::add_help(app, cli);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(fiel::ExitStatus::kUsage);
  }
  return static_cast<int>(cli.status);
}
