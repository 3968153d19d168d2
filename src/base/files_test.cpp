#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace fiel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TempFolder make_folder() { return TempFolder::create("", "fiel-files-test-").value(); }

int count_entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Files, WhatWasWrittenIsReadAndNoTemporaryStays) {
  const auto folder = make_folder();
  const fs::path path = folder.path() / "a.txt";
  ASSERT_TRUE(write_atomic(path, "old"));
  ASSERT_TRUE(write_atomic(path, std::string("new\0line\n", 9)));
  EXPECT_EQ(read_text(path).value(), std::string("new\0line\n", 9));
  EXPECT_EQ(count_entries(folder.path()), 1);
}

TEST(Files, WritingOverAFileKeepsTheFileAndCutsItToLength) {
  const auto folder = make_folder();
  const fs::path path = folder.path() / "scratch";
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const auto write_over = [&](std::string_view text) {
    OverWriter file = OverWriter::open(path).value();
    return file.write(bytes(text)).has_value() && file.write({}).has_value() && file.finish().has_value();
  };
  ASSERT_TRUE(write_over("a long text"));
  struct stat before{}, after{};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  ASSERT_TRUE(write_over("short"));
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read_text(path).value(), "short");
}

TEST(Files, AFailedWriteKeepsTheOldContentAndLeavesNothing) {
  const auto folder = make_folder();
  const fs::path path = folder.path() / "sub";
  ASSERT_TRUE(ensure_folder(path / "full"));  // a folder that is not empty can't be renamed over
  const auto written = write_atomic(path, "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(written.error().message, HasSubstr(path.string()));
  EXPECT_EQ(count_entries(folder.path()), 1);
}

TEST(Files, AMissingFileIsAnErrorWithPathAndCause) {
  const auto text = read_text("/nonexistent/file");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "cannot read /nonexistent/file: no such file or directory");
}

TEST(Files, AFileAboveTheLimitIsRefused) {
  const auto folder = make_folder();
  ASSERT_TRUE(write_atomic(folder.path() / "a", "12345"));
  EXPECT_TRUE(read_text(folder.path() / "a", 5));
  EXPECT_FALSE(read_text(folder.path() / "a", 4));
}

TEST(Files, AFullDiskAndAQuotaAreSaidWithPathAndAdvice) {
  const auto error = file_error("write", "/run/x", ENOSPC);
  EXPECT_EQ(error.message, "cannot write /run/x: no space left on device");
  EXPECT_THAT(error.hint, HasSubstr("free some space"));
  EXPECT_THAT(file_error("write", "/run/x", EDQUOT).hint, HasSubstr("free some space"));
  EXPECT_THAT(file_error("write", "/run/x", EROFS).hint, HasSubstr("who may write there"));
  EXPECT_THAT(file_error("open", "/run/x", EMFILE).hint, HasSubstr("ulimit -n"));
}

TEST(Files, TheTailStartsNotBeforeFrom) {
  const auto folder = make_folder();
  const fs::path path = folder.path() / "log";
  ASSERT_TRUE(write_atomic(path, "0123456789"));
  EXPECT_EQ(read_tail(path, 0, 4).value(), "6789");
  EXPECT_EQ(read_tail(path, 8, 4).value(), "89");
  EXPECT_EQ(read_tail(path, 20, 4).value(), "");
}

TEST(Files, ReadOnlyFoldersAreRemovedAndLinksNotFollowed) {
  const auto kept = make_folder();
  ASSERT_TRUE(write_atomic(kept.path() / "precious", "x"));
  fs::path gone;
  {
    const auto folder = make_folder();
    gone = folder.path();
    ASSERT_TRUE(ensure_folder(gone / "a/b"));
    fs::create_directory_symlink(kept.path(), gone / "a/link");
    ::chmod((gone / "a/b").c_str(), 0);
    ::chmod((gone / "a").c_str(), 0500);
  }
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(kept.path() / "precious"));
}

TEST(Files, EnsureFolderRefusesAFile) {
  const auto folder = make_folder();
  ASSERT_TRUE(write_atomic(folder.path() / "f", "x"));
  EXPECT_FALSE(ensure_folder(folder.path() / "f"));
  EXPECT_TRUE(ensure_folder(folder.path() / "x/y/z"));
  EXPECT_TRUE(ensure_folder(folder.path() / "x/y/z"));
}

TEST(Files, FreeBytesOfAMissingPathIsAnError) {
  EXPECT_GT(free_bytes("/").value(), 0);
  EXPECT_FALSE(free_bytes("/nonexistent"));
}

TEST(FileLock, ASecondHolderIsRefusedByName) {
  const auto folder = make_folder();
  const fs::path path = folder.path() / "lock";
  {
    const auto first = FileLock::acquire(path);
    ASSERT_TRUE(first);
    const auto second = FileLock::acquire(
        path);  // flock belongs to the open file, so our own process is refused too
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_TRUE(FileLock::acquire(path));
}

}  // namespace
}  // namespace fiel
