#include "protocol/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace fiel {
namespace {

TEST(LineSplitter, JoinsALineThatComesInPieces) {
  LineSplitter splitter;
  ASSERT_TRUE(splitter.feed("{\"a\""));
  EXPECT_FALSE(splitter.next());
  EXPECT_EQ(splitter.unfinished_bytes(), 4u);
  ASSERT_TRUE(splitter.feed(":1}\n{}\n"));
  EXPECT_EQ(splitter.next(), "{\"a\":1}");
  EXPECT_EQ(splitter.next(), "{}");
  EXPECT_FALSE(splitter.next());
  EXPECT_EQ(splitter.unfinished_bytes(), 0u);
}

TEST(LineSplitter, TakesALineOfTheLimitAndRefusesOneByteMore) {
  LineSplitter exact;
  ASSERT_TRUE(exact.feed(std::string(kMaxLineBytes, 'a') + "\n"));
  EXPECT_EQ(exact.next()->size(), kMaxLineBytes);

  LineSplitter over;
  ASSERT_TRUE(over.feed(std::string(kMaxLineBytes, 'a')));
  const Result<> result = over.feed("b");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kProtocol);
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_writer();
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(LineReader, GivesLinesThenNothingAtTheEnd) {
  Pipe pipe;
  ASSERT_TRUE(write_line(pipe.writer(), "one"));
  ASSERT_TRUE(write_line(pipe.writer(), ""));
  ASSERT_EQ(::write(pipe.writer(), "cut", 3), 3);
  pipe.close_writer();
  LineReader reader(pipe.reader());
  EXPECT_EQ(*reader.next(), "one");
  EXPECT_EQ(*reader.next(), "");
  EXPECT_EQ(*reader.next(), std::nullopt);
}

TEST(LineReader, SaysThatADescriptorCannotBeRead) {
  LineReader reader(-1);
  const auto line = reader.next();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().kind, ErrorKind::kDied);
}

}  // namespace
}  // namespace fiel
