#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/regular_file.h"

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
  EXPECT_THAT(file_error("start", "x", ENOMEM).hint, HasSubstr("memory"));
  EXPECT_THAT(file_error("start", "x", EAGAIN).hint, HasSubstr("ulimit -u"));
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

TEST(Files, ATreeDeeperThanWeHaveDescriptorsIsRemoved) {
  const auto folder = make_folder();
  const auto tree = folder.path() / "tree";
  ASSERT_TRUE(ensure_folder(tree));
  const int here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::chdir(tree.c_str()), 0);
  for (int depth = 0; depth < 3000; ++depth) {  // its path has 30,000 bytes, which no call takes
    ASSERT_EQ(::mkdir("some-depth", 0755), 0);
    ASSERT_EQ(::chdir("some-depth"), 0);
    ASSERT_EQ(::symlink("/etc", "link"), 0);
  }
  ASSERT_EQ(::fchdir(here), 0);
  ::close(here);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{64, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const auto removed = remove_tree(tree);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(tree));
}

TEST(Files, WhatLiesAtDifferentDepthsUnderEqualNamesIsRemoved) {
  const auto folder = make_folder();
  for (const char* below : {"t/a/a/a", "t/b/a/a", "t/a/b/a", "t/.gone.1/a/.gone.2/a"}) {
    ASSERT_TRUE(ensure_folder(folder.path() / below));
    ASSERT_TRUE(write_atomic(folder.path() / below / "f", "x"));
  }
  ASSERT_TRUE(write_atomic(folder.path() / "t/.gone.2", "a file"));
  EXPECT_TRUE(remove_tree(folder.path() / "t"));
  EXPECT_FALSE(fs::exists(folder.path() / "t"));
  EXPECT_TRUE(remove_tree(folder.path() / "t")) << "what is not there is removed";
}

TEST(Files, APipeIsNotWaitedFor) {
  const auto folder = make_folder();
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto links : {Links::kFollowed, Links::kRefused}) {
    const auto opened = open_regular(pipe, links);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("no regular file"));
  }
  EXPECT_FALSE(read_text(pipe));
  EXPECT_FALSE(read_tail(pipe, 0, 10));
  EXPECT_FALSE(OverWriter::open(pipe));
  EXPECT_FALSE(open_regular(folder.path(), Links::kFollowed));
}

TEST(Files, LinksOfOthersAreNotFollowed) {
  const auto folder = make_folder();
  ASSERT_TRUE(ensure_folder(folder.path() / "home"));
  ASSERT_TRUE(write_atomic(folder.path() / "home/file", "secret"));
  fs::create_symlink(folder.path() / "home/file", folder.path() / "link");
  fs::create_directory_symlink(folder.path() / "home", folder.path() / "out");
  for (const char* name : {"link", "out/file"}) {
    EXPECT_TRUE(open_regular(folder.path() / name, Links::kFollowed));
    const auto refused = open_regular(folder.path() / name, Links::kRefused);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("link"));
  }
  EXPECT_EQ(open_regular(folder.path() / "home/file", Links::kRefused)->bytes, 6);
  EXPECT_FALSE(OverWriter::open(folder.path() / "link"));
  EXPECT_EQ(read_text(folder.path() / "home/file").value(), "secret");
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
