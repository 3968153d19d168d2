#include "cli/outcome.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "cli/event_lines.h"
#include "cli/progress.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "report/view.h"

namespace fiel {

void add_output_flags(CLI::App& command, bool& json, bool& json_lines) {
  auto* document = command.add_flag("--json", json, "the result as one JSON document on stdout");
  command.add_flag("--json-lines", json_lines, "what happens as it happens, one JSON object a line on stdout (docs/events.md)")
      ->excludes(document);
}

OutputForm form_of(bool json, bool json_lines) {
  return json_lines ? OutputForm::kLines : json ? OutputForm::kJson : OutputForm::kText;
}

ExitStatus exit_status_of(VerdictWord word) {
  switch (word) {
    case VerdictWord::kImproved:
    case VerdictWord::kNotImproved: return ExitStatus::kDecided;
    case VerdictWord::kUndecided: return ExitStatus::kUndecided;
    case VerdictWord::kInfeasible: return ExitStatus::kInfeasible;
  }
  return ExitStatus::kInternal;
}

Result<std::string> describe_run(const std::filesystem::path& folder, OutputForm form, bool all) {
  const RunView view = FIEL_TRY(read_run(folder));
  if (form == OutputForm::kJson) return format_json(view).dump(1) + "\n";
  return format_text(view, {.width = terminal_width(STDOUT_FILENO), .color = use_color(STDOUT_FILENO), .all = all});
}

namespace {

// The page beside the journal is there for convenience: no run fails for it.
void leave_page(const std::filesystem::path& folder) {
  const auto view = read_run(folder);
  const auto written = view ? write_atomic(folder / "report.html", format_html(*view)) : std::unexpected(view.error());
  if (written) {
    fmt::print(stderr, "fiel: the result as a page: {}\n", say_path(folder / "report.html"));
  } else {
    fmt::print(stderr, "fiel: note: no page of the result: {}; `fiel report {}` makes one\n", written.error().message, say_path(folder));
  }
}

Result<ExitStatus> finish_run(const std::filesystem::path& folder, const Result<Verdict>& verdict, OutputForm form) {
  if (!verdict) {
    const bool resumable = std::filesystem::exists(folder / "run.db");
    if (verdict.error().kind == ErrorKind::kCancelled) {
      fmt::print(stderr, "\nfiel: interrupted; {}\n",
                 resumable ? fmt::format("what was finished is kept, go on with:  fiel resume {}", say_path(folder))
                           : "nothing had begun yet");
      return ExitStatus::kInterrupted;
    }
    const ExitStatus status = report_error(verdict.error());
    if (resumable && status == ExitStatus::kEnvironment) {
      fmt::print(stderr, "      what was finished is kept, go on with:  fiel resume {}\n", say_path(folder));
    }
    return status;
  }
  leave_page(folder);
  if (form == OutputForm::kLines) return exit_status_of(verdict->word);
  const ExitStatus printed = print_result(FIEL_TRY(describe_run(folder, form, false)));
  return printed == ExitStatus::kDecided ? exit_status_of(verdict->word) : printed;
}

}  // namespace

Result<ExitStatus> tell_run(const std::filesystem::path& folder, OutputForm form,
                            const std::function<Result<Verdict>(ProgressSink&)>& walk) {
  auto people = std::make_unique<StderrProgress>();
  EventLines lines(stdout, *people);
  const bool for_programs = form == OutputForm::kLines;
  if (for_programs) lines.begin(folder.string());
  const Result<Verdict> verdict = walk(for_programs ? static_cast<ProgressSink&>(lines) : *people);
  people.reset();  // so that its status line is gone before anything else is said
  const ExitStatus status = FIEL_TRY(finish_run(folder, verdict, form));
  if (!for_programs) return status;
  lines.end(verdict, status);
  if (lines.complete() || status != ExitStatus::kDecided) return status;
  fmt::print(stderr, "fiel: error: not every line could be written to stdout\n      `fiel show` has the result\n");
  return ExitStatus::kEnvironment;
}

}  // namespace fiel
