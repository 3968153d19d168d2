#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace fiel {
namespace {

TEST(Units, SizesAndTimesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("400 MiB").value(), std::int64_t{400} << 20);
  EXPECT_EQ(parse_bytes("1.5GB").value(), 1'500'000'000);
  EXPECT_EQ(parse_bytes("7 B").value(), 7);
  EXPECT_DOUBLE_EQ(parse_duration("8 ms").value(), 0.008);
  EXPECT_DOUBLE_EQ(parse_duration("15m").value(), 900.0);
  EXPECT_DOUBLE_EQ(parse_duration("1 h 30 min").value(), 5400.0);
  EXPECT_DOUBLE_EQ(parse_duration("250 µs").value(), 250e-6);
}

TEST(Units, WhatCannotBeMeantIsRefusedInWords) {
  EXPECT_EQ(parse_bytes("400").error().message, "it has no unit");
  EXPECT_EQ(parse_bytes("400 Mib").error().message, "it has the unknown unit 'Mib'");
  EXPECT_EQ(parse_bytes("400 MiB 3 B").error().message, "'3 B' follows it");
  EXPECT_EQ(parse_bytes("9e9 TiB").error().message, "it is too large");
  EXPECT_EQ(parse_duration("fast").error().message, "it has no number");
  EXPECT_EQ(parse_duration("").error().message, "it has no number");
  EXPECT_EQ(parse_duration("8").error().hint, "write it like \"8 ms\"");
  for (const char* text :
       {"-8 ms", "nan s", "inf s", "1e999 s", "1e300 h", "8 ms,", "0x8 ms", "-0 s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Units, ShownWithThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(format_duration(0.001834), "1.83 ms");
  EXPECT_EQ(format_duration(0.0123), "12.3 ms");
  EXPECT_EQ(format_duration(0.9999), "1.00 s");
  EXPECT_EQ(format_duration(125e-9), "125 ns");
  EXPECT_EQ(format_duration(42.1e-6), "42.1 µs");
  EXPECT_EQ(format_duration(125.2), "2 min 5 s");
  EXPECT_EQ(format_duration(120), "2 min");
  EXPECT_EQ(format_duration(59.97), "1 min");
  EXPECT_EQ(format_duration(3780), "1 h 3 min");
  EXPECT_EQ(format_duration(-0.5), "-500 ms");
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(format_bytes(812), "812 B");
  EXPECT_EQ(format_bytes(1536 << 10), "1.5 MiB");
  EXPECT_EQ(format_bytes(52 << 20), "52 MiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
}

TEST(Units, WhatIsShownCanBeReadAgain) {
  for (const double seconds : {1.83e-3, 125.0, 5400.0, 42.1e-6, 59.9}) {
    EXPECT_NEAR(parse_duration(format_duration(seconds)).value(), seconds, seconds * 0.005);
  }
}

}  // namespace
}  // namespace fiel
