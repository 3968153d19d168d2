// The result for other tools: every candidate as CSV (RFC 4180), and the verdict with the candidates that matter as Markdown, for
// a comment in a pull request or a page of notes. docs/result.md names the columns; units stand in their names.
#pragma once

#include <string>

#include "report/view.h"

namespace fiel {

/// All candidates by id, a header line first; a field is empty where nothing was measured.
std::string format_csv(const RunView& view);

/// The verdict, and at most so many of the fastest candidates that the contract allows; what ships and what it was compared with always.
std::string format_markdown(const RunView& view);

}  // namespace fiel
