#include "model/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace fiel {
namespace {

template <class T>
Tensor tensor_of(DType dtype, std::vector<T> values) {
  Tensor tensor{dtype, {static_cast<std::int64_t>(values.size())}, {}};
  tensor.bytes.resize(values.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(Tensor, EveryDTypeIsFoundAgainByItsName) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_GE(element_size(dtype), 1U);
  }
  EXPECT_FALSE(parse_dtype("float8"));
  EXPECT_FALSE(parse_dtype("Float32"));
}

TEST(Tensor, ElementCountKnowsScalarsZerosAndNonsense) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0);
  EXPECT_EQ(element_count({std::int64_t{1} << 48}), std::int64_t{1} << 48);
  EXPECT_FALSE(element_count({(std::int64_t{1} << 48) + 1}));
  EXPECT_FALSE(element_count({INT64_MAX, INT64_MAX}));
  EXPECT_FALSE(element_count({0, -1}));
}

// IEEE 754's own corner values of binary16.
TEST(Tensor, HalfPrecisionIsExactAtItsCorners) {
  EXPECT_EQ(half_to_double(0x3C00), 1.0);
  EXPECT_EQ(half_to_double(0xC000), -2.0);
  EXPECT_EQ(half_to_double(0x7BFF), 65504.0);
  EXPECT_EQ(half_to_double(0x0400), std::ldexp(1.0, -14));
  EXPECT_EQ(half_to_double(0x0001), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(half_to_double(0x8000)));
  EXPECT_EQ(half_to_double(0xFC00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(half_to_double(0x7E00)));
}

TEST(Tensor, BFloat16IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(bfloat16_to_double(0x3F80), 1.0);
  EXPECT_EQ(bfloat16_to_double(0xC049), -3.140625);
  EXPECT_TRUE(std::isnan(bfloat16_to_double(0x7FC0)));
}

TEST(Tensor, ElementsAreReadInTheirOwnType) {
  EXPECT_EQ(element(tensor_of<std::int8_t>(DType::kInt8, {0, -128}).view(), 1), -128.0);
  EXPECT_EQ(element(tensor_of<std::uint32_t>(DType::kUInt32, {UINT32_MAX}).view(), 0),
            4294967295.0);
  EXPECT_EQ(element(tensor_of<float>(DType::kFloat32, {1.0F, 0.1F}).view(), 1), double{0.1F});
  EXPECT_EQ(element(tensor_of<std::uint64_t>(DType::kUInt64, {std::uint64_t{1} << 63}).view(), 0),
            std::ldexp(1.0, 63));
  EXPECT_EQ(integer_element(tensor_of<std::int64_t>(DType::kInt64, {INT64_MIN}).view(), 0),
            INT64_MIN);
  EXPECT_EQ(integer_element(tensor_of<std::uint8_t>(DType::kBool, {7}).view(), 0), 1);
}

TEST(TensorDeathTest, ReadingBehindTheEndIsABug) {
  const Tensor tensor = tensor_of<float>(DType::kFloat32, {1.0F});
  EXPECT_EXIT(element(tensor.view(), 1), ::testing::ExitedWithCode(70), "internal error");
}

}  // namespace
}  // namespace fiel
