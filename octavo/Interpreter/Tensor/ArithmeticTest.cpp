// Tests elementwise kernels against the machine's IEEE 754 arithmetic and against values computed
// by hand.
#include "octavo/Interpreter/Tensor/Arithmetic.h"

#include "octavo/Interpreter/Tensor/Map.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace octavo::interpreter {
namespace {

using format::element;

Tensor floats(const ElementFormat& format, std::vector<double> values) {
  return encodeElements(format, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor integers(IntegerType type, std::vector<std::uint64_t> values) {
  return encodeIntegers(type, {static_cast<std::int64_t>(values.size())}, values);
}

/// Applies `Op`, which must be defined on the inputs.
template <typename Op, typename... Inputs> Tensor mapped(const Inputs&... inputs) {
  return map<Op>(inputs...).value();
}

std::uint32_t expectedBits(float x) {
  return x != x ? 0x7FC00000u : std::bit_cast<std::uint32_t>(x);
}

// Rule I1: computing in f64 and rounding once gives IEEE 754's + - * / and sqrt of f32, because 53
// >= 2 * 24 + 2 (Figueroa 1995). Bit patterns are uniform, so subnormals, Inf and NaN occur.
TEST(Arithmetic, F32IsIeee) {
  std::mt19937 random(1);
  constexpr std::int64_t n = 1 << 20;
  Tensor x = Tensor::zeros(kF32, {n}), y = Tensor::zeros(kF32, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    x.setCode(i, random());
    // Every other pair is close, so that sums cancel.
    y.setCode(i, i % 2 == 0 ? random() : x.code(i) ^ (random() & 0x80FFFFFFu));
  }
  const Tensor sum = mapped<Add>(x, y), difference = mapped<Subtract>(x, y),
               product = mapped<Multiply>(x, y), quotient = mapped<Divide>(x, y),
               root = mapped<Sqrt>(x);
  const auto a = x.as<float>(), b = y.as<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(sum.code(i), expectedBits(a[i] + b[i])) << a[i] << " + " << b[i];
    ASSERT_EQ(difference.code(i), expectedBits(a[i] - b[i])) << a[i] << " - " << b[i];
    ASSERT_EQ(product.code(i), expectedBits(a[i] * b[i])) << a[i] << " * " << b[i];
    ASSERT_EQ(quotient.code(i), expectedBits(a[i] / b[i])) << a[i] << " / " << b[i];
    ASSERT_EQ(root.code(i), expectedBits(std::sqrt(a[i]))) << "sqrt " << a[i];
  }
}

// OCP FP8, table 2: E4M3 has no Inf, largest value 448, spacing 32 there; the tie 464 goes to 448,
// the even code. E5M2 has Inf beyond 57344 + 4096.
TEST(Arithmetic, NarrowSumsRoundOnce) {
  const Tensor e4m3 = mapped<Add>(floats(element("e4m3fn"), {448, 448, 1, 0.001953125}),
                                  floats(element("e4m3fn"), {16, 32, 0.0625, 0.001953125}));
  EXPECT_EQ(e4m3.code(0), 0x7Eu);
  EXPECT_EQ(e4m3.code(1), 0x7Fu);
  EXPECT_EQ(e4m3.code(2), 0x38u); // 1.0625 is the tie of 1 and 1.125
  EXPECT_EQ(e4m3.code(3), 0x02u); // subnormals: 2^-9 + 2^-9
  const Tensor e5m2 =
      mapped<Add>(floats(element("e5m2"), {57344, 57344}), floats(element("e5m2"), {3584, 4096}));
  EXPECT_EQ(e5m2.code(0), 0x7Bu);
  EXPECT_EQ(e5m2.code(1), 0x7Cu);
}

// Rule I3: a NaN result is the positive quiet NaN; F4 has none, and takes -0 for it.
TEST(Arithmetic, NanIsCanonical) {
  EXPECT_EQ(mapped<Divide>(floats(kF32.format(), {0}), floats(kF32.format(), {0})).code(0),
            0x7FC00000u);
  EXPECT_EQ(mapped<Divide>(floats(element("e2m1fn"), {0}), floats(element("e2m1fn"), {0})).code(0),
            0x8u);
  EXPECT_EQ(mapped<Negate>(floats(element("e4m3fnuz"), {NAN})).code(0), 0x80u);
}

// Rule I5.
TEST(Arithmetic, MaximumAndMinimumOrderZerosAndKeepNan) {
  const Tensor x = floats(kF32.format(), {-0.0, 0.0, NAN, 1});
  const Tensor y = floats(kF32.format(), {0.0, -0.0, 1, NAN});
  const Tensor high = mapped<Maximum>(x, y), low = mapped<Minimum>(x, y);
  EXPECT_EQ(high.code(0), 0u);
  EXPECT_EQ(high.code(1), 0u);
  EXPECT_EQ(low.code(0), 0x80000000u);
  EXPECT_EQ(low.code(1), 0x80000000u);
  for (int i : {2, 3}) {
    EXPECT_EQ(high.code(i), 0x7FC00000u);
    EXPECT_EQ(low.code(i), 0x7FC00000u);
  }
}

// Rule I6.
TEST(Arithmetic, IntegersWrap) {
  const IntegerType i8{8, false}, u8{8, true}, i4{4, false};
  EXPECT_EQ(mapped<Add>(integers(i8, {127}), integers(i8, {1})).code(0), 0x80u);
  EXPECT_EQ(mapped<Multiply>(integers(i4, {7}), integers(i4, {3})).code(0), 0x5u); // 21 mod 16
  EXPECT_EQ(mapped<Divide>(integers(i8, {0x80}), integers(i8, {0xFF})).code(0), 0x80u);
  EXPECT_EQ(mapped<Divide>(integers(i8, {0xF9}), integers(i8, {2})).code(0), 0xFDu); // -7 / 2 = -3
  EXPECT_EQ(mapped<Divide>(integers(i8, {5}), integers(i8, {0})).code(0), 0xFFu);
  EXPECT_EQ(mapped<Divide>(integers(u8, {200}), integers(u8, {7})).code(0), 28u);
  EXPECT_EQ(mapped<Remainder>(integers(i8, {0xF9}), integers(i8, {2})).code(0), 0xFFu);
  EXPECT_EQ(mapped<Remainder>(integers(i8, {5}), integers(i8, {0})).code(0), 5u);
  EXPECT_EQ(mapped<Power>(integers(i8, {3}), integers(i8, {5})).code(0), 243u);
  EXPECT_EQ(mapped<Power>(integers(i8, {0xFF}), integers(i8, {0xFD})).code(0), 0xFFu); // (-1)^-3
  EXPECT_EQ(mapped<Power>(integers(i8, {2}), integers(i8, {0xFF})).code(0), 0u);
  EXPECT_EQ(mapped<Abs>(integers(i8, {0x80})).code(0), 0x80u);
  EXPECT_EQ(mapped<Maximum>(integers(i8, {0xFF}), integers(i8, {1})).code(0), 1u);
  EXPECT_EQ(mapped<Maximum>(integers(u8, {0xFF}), integers(u8, {1})).code(0), 0xFFu);
  EXPECT_EQ(mapped<Add>(integers({1, false}, {1}), integers({1, false}, {1})).code(0), 1u);
}

// An operation that is not defined on a type is an error that names it; it used to give zeros.
TEST(Arithmetic, WhatIsNotDefinedIsAnError) {
  const auto message = [](const Defined<Tensor>& result) {
    return result ? "a tensor" : result.error().message();
  };
  EXPECT_EQ(message(map<And>(floats(kF32.format(), {1}), floats(kF32.format(), {1}))),
            "is not defined on elements of f32");
  EXPECT_EQ(message(map<Exponential>(integers({8, false}, {1}))),
            "is not defined on elements of i8");
  const Tensor complex = Tensor::zeros(ComplexType{&element("f32")}, {2});
  EXPECT_EQ(message(map<Floor>(complex)), "is not defined on elements of complex<f32>");
  EXPECT_EQ(message(map<Negate>(complex)), "a tensor");
  EXPECT_FALSE(isDefinedOn<Floor>(complex.type));
}

// (a + bi)(c + di) = (ac - bd) + (ad + bc)i, each part rounded once to f32: 1/3 in f32 is
// 0x3EAAAAAB, and (1 + i/3)(1 + i) = 2/3 + 4/3 i of that value.
TEST(Arithmetic, ComplexNumbersByTheirFormulas) {
  const float third = std::bit_cast<float>(0x3EAAAAABu);
  const std::complex<double> x{1, third}, y{1, 1};
  const Tensor a = encodeComplex(element("f32"), {1}, std::span(&x, 1));
  const Tensor b = encodeComplex(element("f32"), {1}, std::span(&y, 1));
  const auto parts = [](const Tensor& t) { return decodeComplex(t).front(); };
  EXPECT_EQ(parts(mapped<Multiply>(a, b)),
            std::complex<double>(static_cast<float>(1.0 - third), static_cast<float>(third + 1.0)));
  EXPECT_EQ(parts(mapped<Add>(a, b)), std::complex<double>(2, static_cast<float>(1.0 + third)));
  EXPECT_EQ(parts(mapped<Subtract>(a, b)),
            std::complex<double>(0, static_cast<float>(third - 1.0)));
  EXPECT_EQ(parts(mapped<Negate>(a)), std::complex<double>(-1, -third));
  const std::complex<double> wide{0x1p-60, 3};
  const Tensor c = encodeComplex(element("f64"), {1}, std::span(&wide, 1));
  EXPECT_EQ(parts(mapped<Add>(c, c)), std::complex<double>(0x1p-59, 6));
}

TEST(Arithmetic, ZeroSized) {
  EXPECT_EQ(mapped<Exponential>(Tensor::zeros(kF32, {3, 0})).shape,
            (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(
      mapped<Add>(Tensor::zeros(element("e2m1fn"), {0}), Tensor::zeros(element("e2m1fn"), {0}))
          .size(),
      0);
}

} // namespace
} // namespace octavo::interpreter
