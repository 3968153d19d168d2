// How a run and its end are told: progress, the table or the document on stdout, the page in the run's folder, the exit status,
// and after Ctrl-C how to go on.
#pragma once

#include <filesystem>
#include <functional>

#include "cli/exit_status.h"
#include "decide/progress.h"
#include "decide/verdict.h"

namespace CLI {
class App;
}

namespace fiel {

enum class OutputForm { kText, kJson, kLines };

/// --json and --json-lines, which exclude each other, and what they ask for.
void add_output_flags(CLI::App& command, bool& json, bool& json_lines);
OutputForm form_of(bool json, bool json_lines);

ExitStatus exit_status_of(VerdictWord word);

/// Has `walk` make or go on with the run in `folder`, tells what it does, and tells its end.
Result<ExitStatus> tell_run(const std::filesystem::path& folder, OutputForm form,
                            const std::function<Result<Verdict>(ProgressSink&)>& walk);

/// The result of a run folder as text or JSON.
Result<std::string> describe_run(const std::filesystem::path& folder, OutputForm form, bool all);

}  // namespace fiel
