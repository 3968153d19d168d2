// How a run's end is told: the table or the document on stdout, the exit status, and after Ctrl-C how to go on.
#pragma once

#include <filesystem>

#include "cli/exit_status.h"
#include "decide/verdict.h"

namespace fiel {

enum class OutputForm { kText, kJson };

ExitStatus exit_status_of(VerdictWord word);

Result<ExitStatus> finish_run(const std::filesystem::path& folder, const Result<Verdict>& verdict, OutputForm form);

/// The result of a run folder as text or JSON.
Result<std::string> describe_run(const std::filesystem::path& folder, OutputForm form, bool all);

}  // namespace fiel
