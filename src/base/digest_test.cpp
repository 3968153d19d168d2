#include "base/digest.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

// FIPS 180-4's own example.
TEST(Digest, OfAbcIsThePublishedOne) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, FieldsThatJoinToTheSameTextDiffer) {
  EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
}

TEST(Digest, AMissingFileIsAnErrorThatNamesIt) {
  EXPECT_NE(sha256_file("/no/such").error().message.find("/no/such"), std::string::npos);
}

}  // namespace
}  // namespace fiel
