// Tests conversions of whole tensors (rules I7, I8, I9) against values computed by hand.
#include "octavo/Interpreter/Tensor/Conversions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace octavo::interpreter {
namespace {

using format::element;

Tensor floats(std::vector<double> values) {
  return encodeElements(element("f64"), {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<std::uint64_t> codes(const Tensor& tensor) {
  std::vector<std::uint64_t> list;
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    list.push_back(tensor.code(i));
  return list;
}

using Codes = std::vector<std::uint64_t>;

TEST(Conversions, FloatToIntegerTruncatesAndSaturates) {
  const Tensor x = floats({1.9, -1.9, 127.9, 128, -128.9, -129, NAN, INFINITY, -INFINITY});
  EXPECT_EQ(codes(convertElements(x, IntegerType{8, false})),
            (Codes{1, 0xFF, 127, 127, 0x80, 0x80, 0, 127, 0x80}));
  EXPECT_EQ(codes(convertElements(x, IntegerType{8, true})),
            (Codes{1, 0, 127, 128, 0, 0, 0, 255, 0}));
  EXPECT_EQ(codes(convertElements(x, kBoolean)), (Codes{1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(codes(convertElements(floats({0, -0.0}), kBoolean)), (Codes{0, 0}));
  EXPECT_EQ(codes(convertElements(floats({0x1p63, -0x1p63, 0x1p64}), IntegerType{64, false})),
            (Codes{0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF}));
  EXPECT_EQ(codes(convertElements(floats({0x1p63, 0x1p64}), IntegerType{64, true})),
            (Codes{0x8000000000000000, ~std::uint64_t{0}}));
}

TEST(Conversions, IntegerToFloatRoundsOnce) {
  // 2^53 + 1 lies between two doubles; 2^24 + 1 and 2^60 + 2^36 + 1 between two floats, the latter
  // just above a tie that rounding to f64 first would make exact.
  const Tensor x = encodeIntegers(
      {64, false}, {3}, Codes{(1ull << 53) + 1, (1ull << 24) + 1, (1ull << 60) + (1ull << 36) + 1});
  EXPECT_EQ(convertElements(x, kF64).as<double>()[0], 0x1p53);
  EXPECT_EQ(convertElements(x, kF32).as<float>()[1], 0x1p24f);
  EXPECT_EQ(convertElements(x, kF32).as<float>()[2], 0x1.000002p60f);
  const Tensor lowest = encodeIntegers({64, false}, {1}, Codes{1ull << 63});
  EXPECT_EQ(convertElements(lowest, kF32).as<float>()[0], -0x1p63f);
}

TEST(Conversions, IntegerToIntegerWraps) {
  const Tensor x = encodeIntegers({16, false}, {3}, Codes{0x0180, 0xFFFF, 0});
  EXPECT_EQ(codes(convertElements(x, IntegerType{8, false})), (Codes{0x80, 0xFF, 0}));
  EXPECT_EQ(codes(convertElements(x, IntegerType{32, false})), (Codes{0x180, 0xFFFFFFFF, 0}));
  EXPECT_EQ(codes(convertElements(x, kBoolean)), (Codes{1, 1, 0}));
  EXPECT_EQ(codes(convertElements(encodeIntegers({4, true}, {1}, Codes{15}), kF32)),
            (Codes{0x41700000}));
}

TEST(Conversions, SameTypeKeepsCodes) {
  Tensor x = Tensor::zeros(kF32, {1});
  x.setCode(0, 0xFFC00123);
  EXPECT_EQ(convertElements(x, kF32), x);
}

TEST(Conversions, ReducePrecision) {
  // To the fields of bf16: 1 + 2^-8 is a tie, to even; 3.4e38 overflows to Inf.
  Tensor x = Tensor::zeros(kF32, {3});
  x.as<float>()[0] = 1.00390625f;
  x.as<float>()[1] = 3.4e38f;
  x.as<float>()[2] = -1.01171875f;
  const Tensor y = reducePrecision(x, 8, 7);
  EXPECT_EQ(y.as<float>()[0], 1.0f);
  EXPECT_EQ(y.as<float>()[1], INFINITY);
  EXPECT_EQ(y.as<float>()[2], -1.015625f);
}

TEST(Conversions, BitcastLowestBitsFirst) {
  const Tensor word = encodeIntegers({32, true}, {1}, Codes{0x04030201});
  const Tensor bytes = bitcastElements(word, IntegerType{8, true}, {1, 4});
  EXPECT_EQ(codes(bytes), (Codes{1, 2, 3, 4}));
  EXPECT_EQ(bitcastElements(bytes, IntegerType{32, true}, {1}), word);
  const Tensor fp4 =
      bitcastElements(encodeIntegers({8, true}, {1}, Codes{0xA1}), element("e2m1fn"), {1, 2});
  EXPECT_EQ(codes(fp4), (Codes{0x1, 0xA}));
}

} // namespace
} // namespace octavo::interpreter
