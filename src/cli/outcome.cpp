#include "cli/outcome.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "report/json.h"
#include "report/text.h"
#include "report/view.h"

namespace fiel {

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
  const ExitStatus printed = print_result(FIEL_TRY(describe_run(folder, form, false)));
  return printed == ExitStatus::kDecided ? exit_status_of(verdict->word) : printed;
}

}  // namespace fiel
