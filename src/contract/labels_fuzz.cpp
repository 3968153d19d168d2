#include "base/fuzz.h"
#include "contract/labels.h"

std::vector<std::string> fiel::fuzz_seeds() {
  return {"sample\na\n", "sample,label\na,1\nb,2\n", "sample,label,slice,group\r\n\"a,1\",\"x\"\"y\",clean,g1\r\nb,,,\r\n",
          "label,sample,mine\n3,\xc3\xa9,\"two\nlines\"\n"};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto labels = fiel::read_labels(fiel::fuzz_file("labels.csv", fiel::fuzz_text(data, size)), "");
  if (!labels) return 0;
  // What we write of it reads as the same.
  std::string text = fiel::format_csv_row(labels->header);
  for (const auto& row : labels->rows) text += fiel::format_csv_row(row.fields);
  const auto again = fiel::read_labels(fiel::fuzz_file("again.csv", text), "").value();
  if (again.rows.size() != labels->rows.size()) __builtin_trap();
  for (std::size_t i = 0; i < again.rows.size(); ++i) {
    if (again.rows[i].fields != labels->rows[i].fields) __builtin_trap();
  }
  return 0;
}
