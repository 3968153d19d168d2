#include "base/printable.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(Printable, GoodTextStays) { EXPECT_EQ(printable("a\tß→😀\nb"), "a\tß→😀\nb"); }

TEST(Printable, InvalidUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(printable("\xC0\x80"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(printable("\xE2\x86"), "\uFFFD\uFFFD");            // cut off
}

TEST(Printable, EscapesControlsAndOverwrittenLinesGo) {
  EXPECT_EQ(printable("\x1b[1;31mred\x1b[0m"), "red");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(printable("x\n10 %\r20 %\r30 %\nend\r\n"), "x\n30 %\nend\n");
}

TEST(Printable, LastLinesCountsLinesNotNewlines) {
  EXPECT_EQ(last_lines("1\n2\n3\n", 2), "2\n3\n");
  EXPECT_EQ(last_lines("1\n2\n3", 2), "2\n3");
  EXPECT_EQ(last_lines("1\n", 5), "1\n");
  EXPECT_EQ(last_lines("", 5), "");
}

TEST(Printable, AnExcerptDoesNotCutACharacter) {
  EXPECT_EQ(excerpt("aß", 3), "aß");
  EXPECT_EQ(excerpt("aßb", 2), "a...");
}

}  // namespace
}  // namespace fiel
