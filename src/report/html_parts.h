// The parts of the page, in the order in which they stand. Each is empty where it has nothing to say.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "report/markup.h"
#include "report/view.h"

namespace fiel {

Html verdict_part(const RunView& view);     // the word, what ships, how sure we are
Html accuracy_part(const RunView& view);    // per task and slice, against the contract
Html speed_part(const RunView& view);       // the interval, and every session behind it
Html rejected_part(const RunView& view);    // what is out, and why
Html tradeoff_part(const RunView& view, const Json& document);  // latency against accuracy and memory
Html search_part(const RunView& view);      // over time; where the time went; when it pays
Html knobs_part(const Json& document);      // which of them mattered, where the document says so
Html machine_part(const RunView& view);     // how quiet it was
Html ground_part(const RunView& view);      // model, data, seed, versions

/// How much of each candidate's evidence is shown.
enum class Evidence { kFull, kShort, kBare };
Html candidates_part(const RunView& view, Evidence evidence);

/// What several parts use.
struct Column {
  std::string_view name;
  std::string_view css;  // "number" is set flush right, "words" is never narrower than a few of them, and breaks long ones
};
inline constexpr Column kText{"", ""}, kNumber{"", "number"}, kWords{"", "words"};
/// <table> up to its head, inside a region that scrolls by itself where it is too wide; end_table() closes both.
Html start_table(std::string_view caption, const std::vector<Column>& columns, Attributes attributes = {});
void end_table(Html& html);
void add_cell(Html& html, const Column& column, std::string_view text);
/// A term and its value in a <dl>; one without a value is left out.
void add_fact(Html& html, std::string_view name, const Html& value);
void add_fact(Html& html, std::string_view name, std::string_view value);
/// The same words as on a terminal, where they stand behind a colon: with a capital letter.
std::string capitalised(std::string text);
/// A link to a candidate's row: "#4".
Html candidate_link(int id);
std::string candidate_target(int id);  // the row's id
/// The tables of a gate's result: tasks with their slices, and tensors.
Html gate_tables(const Json& gate, std::string_view caption);
/// A number as a gate's record has it ("nan" is a text there), or a dash.
std::string figure_of(const Json& object, std::string_view key, int digits = 4);

}  // namespace fiel
