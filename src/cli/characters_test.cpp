#include "cli/characters.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(Characters, FollowTheLocaleInTheOrderOfTheCLibrary) {
  EXPECT_TRUE(is_utf8({.lc_all = nullptr, .lc_ctype = nullptr, .lang = "en_GB.UTF-8"}));
  EXPECT_TRUE(is_utf8({.lc_all = "", .lc_ctype = "C.utf8", .lang = "C"}));
  EXPECT_FALSE(is_utf8({.lc_all = "C", .lc_ctype = nullptr, .lang = "en_GB.UTF-8"}));
  EXPECT_FALSE(is_utf8({}));
}

TEST(Characters, EachOtherOneBecomesOneOfAscii) {
  EXPECT_EQ(in_ascii("12.3 µs, cut off…"), "12.3 us, cut off~");
  EXPECT_EQ(in_ascii("a–b − \u65e5"), "a-b - ?");
  EXPECT_EQ(in_ascii(""), "");
}

}  // namespace
}  // namespace fiel
