// labels.csv: which samples there are, their labels, slices and groups. Knows the file, not the
// data beside it.
//
//   header  sample, then label, slice, group and columns of one's own in any order (RFC 4180:
//   quotes, commas, CRLF)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace fiel {

struct LabelRow {
  std::string sample;
  std::string label;
  std::string slice;
  std::string group;
  int line = 0;
  std::vector<std::string> fields;  // all of the row, as the header names them
};

struct Labels {
  std::filesystem::path file;
  std::vector<std::string> header;
  std::vector<LabelRow> rows;
  bool has_labels = false;  // there is a column "label"
};

/// `group_column`: the column that a task's `group` names; "" takes a column "group" if there is
/// one.
Result<Labels> read_labels(const std::filesystem::path& file, const std::string& group_column);

/// `fields` as one line of CSV, with its line end.
std::string format_csv_row(const std::vector<std::string>& fields);

}  // namespace fiel
