#include "contract/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/nearest.h"
#include "base/printable.h"

namespace fiel {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

std::unexpected<Error> wrong(int line, std::string message, std::string hint = {}) {
  return fail(ErrorKind::kContract, fmt::format("{}: {}", line, message), std::move(hint));
}

struct Record {
  int line = 0;
  std::vector<std::string> fields;
};

/// One record after the other off the front of a CSV text.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // Excel's byte order mark
  }

  bool at_end() const { return rest_.empty(); }

  Result<Record> next() {
    Record record{line_, {}};
    while (true) {
      record.fields.push_back(FIEL_TRY(rest_.starts_with('"') ? quoted() : plain()));
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
        continue;
      }
      if (rest_.starts_with('\r')) rest_.remove_prefix(1);
      if (rest_.starts_with('\n'))
        rest_.remove_prefix(1);
      else if (!rest_.empty())
        return wrong(line_, "text follows a closing quote", "put the whole field into quotes");
      ++line_;
      return record;
    }
  }

 private:
  Result<std::string> plain() {
    const std::string_view field = rest_.substr(0, rest_.find_first_of(",\r\n"));
    rest_.remove_prefix(field.size());
    if (field.find('"') != std::string_view::npos) {
      return wrong(line_, "a quote stands inside a field",
                   "put the whole field into quotes, and write \"\" for one quote");
    }
    return std::string(field);
  }

  Result<std::string> quoted() {
    const int first_line = line_;
    std::string field;
    rest_.remove_prefix(1);
    while (true) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) return wrong(first_line, "a quoted field does not end");
      field += rest_.substr(0, quote);
      line_ += static_cast<int>(std::ranges::count(rest_.substr(0, quote), '\n'));
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) return field;
      field += '"';
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  int line_ = 1;
};

struct Columns {
  std::size_t sample = 0;
  std::optional<std::size_t> label, slice, group;
};

std::optional<std::size_t> find_column(const std::vector<std::string>& header,
                                       const std::string& name) {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<Columns> find_columns(const Record& header, const std::string& group_column) {
  const std::set<std::string> names(header.fields.begin(), header.fields.end());
  if (names.size() != header.fields.size()) return wrong(1, "its header names a column twice");
  const auto sample = find_column(header.fields, "sample");
  if (!sample) {
    return wrong(
        1,
        fmt::format("its header has no column 'sample', but: {}", fmt::join(header.fields, ", ")),
        "begin it with sample,label");
  }
  Columns columns{*sample, find_column(header.fields, "label"), find_column(header.fields, "slice"),
                  find_column(header.fields, group_column.empty() ? "group" : group_column)};
  if (!group_column.empty() && !columns.group) {
    return wrong(1,
                 fmt::format("its header has no column '{}', by which a task groups", group_column),
                 did_you_mean(group_column, header.fields));
  }
  return columns;
}

/// Names become file names, keys and words in reports.
Result<> check_fields(const Record& record, const std::string& sample) {
  for (const std::string& field : record.fields) {
    if (printable(field) != field) {
      return wrong(record.line, "a field has bytes that are no text",
                   "save labels.csv as UTF-8, without control characters");
    }
  }
  if (sample.empty() || sample.front() == '.' || sample.size() > 200 ||
      sample.find_first_of("/\n\t") != std::string::npos) {
    return wrong(record.line,
                 fmt::format("sample '{}' cannot be the name of a file", excerpt(sample, 60)),
                 "evaluators get one file per sample: at most 200 bytes, no '/', no '.' in front");
  }
  return {};
}

Result<Labels> parse(std::string_view text, const std::string& group_column) {
  CsvReader reader(text);
  if (reader.at_end()) return wrong(1, "it is empty", "begin it with sample,label");
  Labels labels;
  const Record header = FIEL_TRY(reader.next());
  const Columns columns = FIEL_TRY(find_columns(header, group_column));
  labels.header = header.fields;
  labels.has_labels = columns.label.has_value();
  std::set<std::string> seen;
  while (!reader.at_end()) {
    Record record = FIEL_TRY(reader.next());
    if (record.fields.size() == 1 && record.fields[0].empty()) continue;  // a blank line
    if (record.fields.size() != labels.header.size()) {
      return wrong(record.line,
                   fmt::format("it has {} fields, the header {}", record.fields.size(),
                               labels.header.size()),
                   "a comma inside a field needs quotes around the field");
    }
    const auto field = [&record](std::optional<std::size_t> column) {
      return column ? record.fields[*column] : std::string();
    };
    LabelRow row{field(columns.sample), field(columns.label), field(columns.slice),
                 field(columns.group),  record.line,          {}};
    FIEL_TRY(check_fields(record, row.sample));
    if (!seen.insert(row.sample).second)
      return wrong(record.line, fmt::format("sample '{}' is there twice", row.sample),
                   "keep one of the rows");
    row.fields = std::move(record.fields);
    labels.rows.push_back(std::move(row));
  }
  return labels;
}

}  // namespace

Result<Labels> read_labels(const std::filesystem::path& file, const std::string& group_column) {
  const std::string text = FIEL_TRY(read_text(file, kMaxBytes));
  auto labels = parse(text, group_column);
  if (!labels) {
    Error error = std::move(labels).error();
    error.message = fmt::format("{}:{}", file.string(), error.message);
    return std::unexpected(std::move(error));
  }
  labels->file = file;
  return labels;
}

std::string format_csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      row += fields[i];
      continue;
    }
    row += '"';
    for (const char c : fields[i]) row += c == '"' ? std::string("\"\"") : std::string(1, c);
    row += '"';
  }
  return row + '\n';
}

}  // namespace fiel
