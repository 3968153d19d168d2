#include "journal/journal.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace fiel {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "journal-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    file_ = folder_ / "run.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void sql(const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }
  void write_two() {
    auto journal = Journal::create(file_).value();
    ASSERT_TRUE(journal.append("a", "first", Json{{"x", 1}}, 0.5, {{"l", {1.5, 0.1}}}));
    ASSERT_TRUE(journal.append("b", "second", Json{{"y", "z"}}, 1.25));
  }

  std::filesystem::path folder_, file_;
};

TEST_F(JournalTest, WhatWasAppendedIsThereAfterReopening) {
  write_two();
  auto journal = Journal::open(file_).value();
  ASSERT_EQ(journal.events().size(), 2u);
  EXPECT_EQ(journal.body("b").value()["y"], "z");
  EXPECT_EQ(journal.find("b")->spent_seconds, 1.25);
  EXPECT_EQ(journal.series(1).value().at("l"), (std::vector<double>{1.5, 0.1}));
  EXPECT_EQ(journal.find("c"), nullptr);
}

TEST_F(JournalTest, AnEditedRowSeriesOrOrderIsRefused) {
  for (const char* edit : {"UPDATE event SET body = '{}' WHERE number = 1", "DELETE FROM event WHERE number = 1",
                           "UPDATE series SET data = x'00'", "UPDATE event SET spent_seconds = 9 WHERE number = 2",
                           "DELETE FROM series", "UPDATE series SET event = 2", "INSERT INTO series VALUES(3, 'l', x'00')",
                           "INSERT INTO series VALUES(1, 'm', x'')"}) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write_two();
    sql(edit);
    auto opened = Journal::open(file_);
    ASSERT_FALSE(opened) << edit;
    EXPECT_EQ(opened.error().kind, ErrorKind::kCorrupt) << edit;
  }
}

TEST_F(JournalTest, ATruncatedFileIsRefusedOrShorterButNeverWrong) {
  write_two();
  const auto size = std::filesystem::file_size(file_);
  for (std::uintmax_t keep = 0; keep < size; keep += 509) {
    const auto copy = folder_ / "copy.db";
    std::filesystem::copy_file(file_, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, keep);
    auto opened = Journal::open_read_only(copy);
    if (opened) {
      EXPECT_LE(opened->events().size(), 2u);
    }
  }
}

TEST_F(JournalTest, ANewerFormatIsRefusedWithAWord) {
  write_two();
  sql("UPDATE meta SET value = '2'");
  EXPECT_NE(Journal::open(file_).error().message.find("journal format 2"), std::string::npos);
}

TEST_F(JournalTest, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(file_) << std::string(4096, 'x');
  EXPECT_EQ(Journal::open(file_).error().kind, ErrorKind::kCorrupt);
}

TEST_F(JournalTest, CreatingOverAnExistingRunIsRefused) {
  write_two();
  EXPECT_EQ(Journal::create(file_).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace fiel
