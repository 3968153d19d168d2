#include "contract/labels.h"

#include <gtest/gtest.h>

#include "model/test_folder.h"

namespace fiel {
namespace {

std::string message_of(const TestFolder& folder, std::string_view text,
                       const std::string& group = "") {
  const auto labels = read_labels(folder.write("labels.csv", text), group);
  if (labels) return "read";
  return labels.error().message.substr((folder / "labels.csv").string().size());
}

TEST(Labels, ColumnsComeInAnyOrderWithQuotesAndWindowsLineEnds) {
  const TestFolder folder;
  const auto labels =
      read_labels(folder.write("labels.csv",
                               "\xEF\xBB\xBFlabel,speaker,slice,sample\r\n"
                               "\"a, \"\"b\"\"\nc\",anna,small,s1\r\n,bert,,s2\r\n\r\n"),
                  "speaker");
  ASSERT_TRUE(labels) << labels.error().message;
  ASSERT_EQ(labels->rows.size(), 2U);
  EXPECT_EQ(labels->rows[0].label, "a, \"b\"\nc");
  EXPECT_EQ(labels->rows[0].group, "anna");
  EXPECT_EQ(labels->rows[0].slice, "small");
  EXPECT_EQ(labels->rows[1].sample, "s2");
  EXPECT_EQ(labels->rows[1].line, 4);
  EXPECT_TRUE(labels->has_labels);
}

TEST(Labels, WhatIsWrittenIsReadAgain) {
  const TestFolder folder;
  const std::vector<std::string> fields{"s", "a, \"b\"\nc", "plain"};
  folder.write("labels.csv", format_csv_row({"sample", "label", "slice"}) + format_csv_row(fields));
  EXPECT_EQ(read_labels(folder / "labels.csv", "")->rows.at(0).fields, fields);
}

TEST(Labels, MistakesAreSaidWithTheirLine) {
  const TestFolder folder;
  EXPECT_EQ(message_of(folder, "sample\na\n"), "read");
  EXPECT_EQ(message_of(folder, ""), ":1: it is empty");
  EXPECT_EQ(message_of(folder, "name,label\na,1\n"),
            ":1: its header has no column 'sample', but: name, label");
  EXPECT_EQ(message_of(folder, "sample,sample\n"), ":1: its header names a column twice");
  EXPECT_EQ(message_of(folder, "sample,label\na,1,2\n"), ":2: it has 3 fields, the header 2");
  EXPECT_EQ(message_of(folder, "sample,label\na,1\na,2\n"), ":3: sample 'a' is there twice");
  EXPECT_EQ(message_of(folder, "sample,label\n../a,1\n"),
            ":2: sample '../a' cannot be the name of a file");
  EXPECT_EQ(message_of(folder, "sample,label\n,1\n"), ":2: sample '' cannot be the name of a file");
  EXPECT_EQ(message_of(folder, "sample,label\na,\"1\n"), ":2: a quoted field does not end");
  EXPECT_EQ(message_of(folder, "sample,label\na,\"1\"x\n"), ":2: text follows a closing quote");
  EXPECT_EQ(message_of(folder, "sample,label\na,1\"\n"), ":2: a quote stands inside a field");
  EXPECT_EQ(message_of(folder, "sample,label\na,\xff\n"), ":2: a field has bytes that are no text");
  EXPECT_EQ(message_of(folder, "sample,label\na,1\n", "speaker"),
            ":1: its header has no column 'speaker', by which a task groups");
}

}  // namespace
}  // namespace fiel
