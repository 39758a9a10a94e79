// Tests fast products against the loops that define them.
#include "octavo/Interpreter/Products/DotGeneral.h"

#include "octavo/Interpreter/Products/ScaledDotGeneral.h"
#include "octavo/Numerics/Dot.h"

#include "oneapi/tbb/global_control.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace octavo::interpreter {
namespace {

using format::element;
using format::ElementFormat;
using numerics::ScaledTensor;
using Shape = std::vector<std::int64_t>;

std::uint32_t bits(float x) { return x != x ? 0x7FC00000u : std::bit_cast<std::uint32_t>(x); }

/// The definition (rule I12): f32 products and sums, k in increasing order, from +0.
std::vector<float> naive(const std::vector<float>& a, const std::vector<float>& b,
                         const OperandLayout& at, const OperandLayout& bt) {
  std::vector<float> result;
  for (std::size_t batch = 0; batch < at.batch.size(); ++batch)
    for (std::int64_t m : at.free)
      for (std::int64_t n : bt.free) {
        float sum = 0;
        for (std::size_t k = 0; k < at.contracted.size(); ++k) {
          const float product =
              a[at.batch[batch] + m + at.contracted[k]] * b[bt.batch[batch] + n + bt.contracted[k]];
          sum += product;
        }
        result.push_back(sum);
      }
  return result;
}

struct Case {
  Shape lhs, rhs;
  DotDimensions dimensions;
};

const Case kCases[] = {
    {{5, 7}, {7, 9}, {{}, {}, {1}, {0}}},
    {{7, 5}, {9, 7}, {{}, {}, {0}, {1}}},
    {{33, 70}, {37, 70}, {{}, {}, {1}, {1}}},
    {{3, 4, 70}, {70, 21}, {{}, {}, {2}, {0}}},
    {{2, 8, 3, 40}, {2, 9, 3, 40}, {{0, 2}, {0, 2}, {3}, {3}}},
    {{4, 6, 5}, {5, 6, 11}, {{}, {}, {1, 2}, {1, 0}}},
    {{6}, {6}, {{}, {}, {0}, {0}}},
    {{0, 4}, {4, 3}, {{}, {}, {1}, {0}}},
    {{3, 0}, {0, 5}, {{}, {}, {1}, {0}}},
    {{0, 3, 4}, {0, 4, 2}, {{0}, {0}, {2}, {1}}},
};

OperandLayout elementLayout(const Shape& shape, const Shape& batch, const Shape& contracted) {
  return operandLayout(shape, Shape(shape.size(), 1), batch, contracted);
}

TEST(DotGeneral, F32IsTheDefinition) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (const Case& c : kCases) {
    Tensor lhs = Tensor::zeros(kF32, c.lhs), rhs = Tensor::zeros(kF32, c.rhs);
    for (float& x : lhs.as<float>())
      x = normal(random);
    for (float& x : rhs.as<float>())
      x = normal(random) * 1e3f;
    const Tensor result = dotGeneral(lhs, rhs, c.dimensions, kF32, kF32);
    const std::vector<float> expected =
        naive(decodeToF32(lhs), decodeToF32(rhs),
              elementLayout(c.lhs, c.dimensions.lhsBatch, c.dimensions.lhsContracting),
              elementLayout(c.rhs, c.dimensions.rhsBatch, c.dimensions.rhsContracting));
    ASSERT_EQ(result.size(), static_cast<std::int64_t>(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(result.code(static_cast<std::int64_t>(i)), bits(expected[i])) << i;
  }
}

TEST(DotGeneral, SameBitsForAnyThreadCount) {
  std::mt19937 random(3);
  Tensor lhs = Tensor::zeros(kF32, {65, 300}), rhs = Tensor::zeros(kF32, {300, 130});
  for (float& x : lhs.as<float>())
    x = std::normal_distribution<float>()(random);
  for (float& x : rhs.as<float>())
    x = std::normal_distribution<float>()(random);
  const DotDimensions dimensions{{}, {}, {1}, {0}};
  const auto withThreads = [&](std::size_t threads) {
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return dotGeneral(lhs, rhs, dimensions, kF32, kF32);
  };
  EXPECT_EQ(withThreads(1), withThreads(4));
}

// Seed 001: iota 8 @ itself in f8E4M3: 140 in f32, the tie of 136 and 144; 144 has the even code.
TEST(DotGeneral, NarrowAccumulatesInF32AndRoundsOnce) {
  const ElementFormat& e4m3 = element("e4m3");
  const std::vector<double> iota{0, 1, 2, 3, 4, 5, 6, 7};
  const Tensor x = encodeElements(e4m3, {8}, iota);
  const Tensor result = dotGeneral(x, x, {{}, {}, {0}, {0}}, e4m3, kF32);
  EXPECT_EQ(numerics::decode(e4m3, result.code(0)), 144.0);
  EXPECT_EQ(dotGeneral(x, x, {{}, {}, {0}, {0}}, kF32, kF32).as<float>()[0], 140.0f);
}

TEST(DotGeneral, F64AndIntegers) {
  const Tensor big = encodeElements(element("f64"), {3}, std::vector<double>{0x1p60, 1, -0x1p60});
  const Tensor ones = encodeElements(element("f64"), {3}, std::vector<double>{1, 1, 1});
  // 2^60 + 1 is 2^60 in f64, so the order of the sum is visible.
  EXPECT_EQ(dotGeneral(big, ones, {{}, {}, {0}, {0}}, kF64, kF64).as<double>()[0], 0.0);

  const IntegerType i8{8, false};
  const Tensor x = encodeIntegers(i8, {2}, std::vector<std::uint64_t>{0x80, 100});
  // (-128)^2 + 100^2 = 26384: 16 in the low byte.
  EXPECT_EQ(dotGeneral(x, x, {{}, {}, {0}, {0}}, IntegerType{32, false}, kF32).code(0), 26384u);
  EXPECT_EQ(dotGeneral(x, x, {{}, {}, {0}, {0}}, i8, kF32).code(0), 26384u & 0xFF);
}

ScaledTensor randomScaled(std::mt19937& random, const ElementFormat& elementFormat,
                          const ElementFormat& scaleFormat, const Shape& shape, const Shape& block,
                          const std::function<std::uint32_t()>& scale) {
  ScaledTensor tensor{shape, {&elementFormat, &scaleFormat, block, false}, {}, {}, 1.0f};
  tensor.elements.resize(static_cast<std::size_t>(numerics::elementCount(shape)));
  for (std::uint8_t& code : tensor.elements)
    code = static_cast<std::uint8_t>(random() & elementFormat.codeMask());
  tensor.scales.resize(
      static_cast<std::size_t>(numerics::elementCount(format::scaleShape(shape, block))));
  for (std::uint32_t& code : tensor.scales)
    code = scale();
  return tensor;
}

/// A row (batch, free) of an operand with one contracted axis, as numerics::dot takes it.
struct Row {
  std::vector<std::uint8_t> elements;
  std::vector<std::uint32_t> scales;
  numerics::ScaledVector vector;

  Row(const ScaledTensor& t, const Shape& batchAxes, std::int64_t contracted, std::size_t batch,
      std::size_t free) {
    const OperandLayout at = elementLayout(t.shape, batchAxes, {contracted});
    const OperandLayout grid = operandLayout(t.shape, t.type.block, batchAxes, Shape{contracted});
    const std::int64_t block = t.type.block[contracted];
    for (std::size_t k = 0; k < at.contracted.size(); ++k) {
      elements.push_back(t.elements[at.batch[batch] + at.free[free] + at.contracted[k]]);
      if (static_cast<std::int64_t>(k) % block == 0)
        scales.push_back(t.scales[grid.batch[batch] + grid.free[free] + grid.contracted[k]]);
    }
    vector = {t.type.element, t.type.scale, block, elements, scales, t.outer};
  }
};

void expectNumericsDot(const ScaledTensor& lhs, const ScaledTensor& rhs,
                       const DotDimensions& dimensions) {
  const std::vector<float> result = scaledDotGeneral(lhs, rhs, dimensions);
  const OperandLayout at = elementLayout(lhs.shape, dimensions.lhsBatch, dimensions.lhsContracting);
  const OperandLayout bt = elementLayout(rhs.shape, dimensions.rhsBatch, dimensions.rhsContracting);
  ASSERT_EQ(result.size(), at.batch.size() * at.free.size() * bt.free.size());
  std::size_t i = 0;
  for (std::size_t batch = 0; batch < at.batch.size(); ++batch)
    for (std::size_t m = 0; m < at.free.size(); ++m)
      for (std::size_t n = 0; n < bt.free.size(); ++n, ++i) {
        const Row x(lhs, dimensions.lhsBatch, dimensions.lhsContracting[0], batch, m);
        const Row y(rhs, dimensions.rhsBatch, dimensions.rhsContracting[0], batch, n);
        ASSERT_EQ(bits(result[i]), bits(numerics::dot(x.vector, y.vector)))
            << lhs.type.element->name << " x " << rhs.type.element->name << " at " << i;
      }
}

struct ScaledCase {
  Shape lhs, lhsBlock, rhs, rhsBlock;
  DotDimensions dimensions;
};

// Ragged last blocks, blocks of different sizes on both sides, blocks across rows, one scale for a
// tensor, batch axes, contracted axes first and last, zero sizes.
const ScaledCase kScaledCases[] = {
    {{5, 64}, {1, 32}, {9, 64}, {1, 32}, {{}, {}, {1}, {1}}},
    {{5, 70}, {1, 32}, {70, 11}, {32, 1}, {{}, {}, {1}, {0}}},
    {{6, 50}, {1, 16}, {7, 50}, {1, 24}, {{}, {}, {1}, {1}}},
    {{9, 300}, {4, 128}, {17, 300}, {8, 128}, {{}, {}, {1}, {1}}},
    {{3, 200}, {3, 200}, {4, 200}, {4, 200}, {{}, {}, {1}, {1}}},
    {{3, 200}, {1, 32}, {4, 200}, {4, 200}, {{}, {}, {1}, {1}}},
    {{2, 5, 3, 40}, {1, 1, 1, 32}, {2, 6, 3, 40}, {1, 1, 1, 32}, {{0, 2}, {0, 2}, {3}, {3}}},
    {{40}, {32}, {40}, {32}, {{}, {}, {0}, {0}}},
    {{0, 32}, {1, 32}, {4, 32}, {1, 32}, {{}, {}, {1}, {1}}},
    {{2, 0}, {1, 1}, {3, 0}, {1, 1}, {{}, {}, {1}, {1}}},
};

TEST(ScaledDotGeneral, IsNumericsDotForEveryPairOfElements) {
  std::mt19937 random(4);
  const ElementFormat& e8m0 = element("e8m0fnu");
  for (const ElementFormat& a : format::kElementFormats)
    for (const ElementFormat& b : format::kElementFormats) {
      if (!a.isNarrow() || !b.isNarrow() || !a.hasZero() || !b.hasZero())
        continue;
      const auto scale = [&] { return 110 + static_cast<std::uint32_t>(random() % 30); };
      for (const ScaledCase& c : {kScaledCases[0], kScaledCases[1], kScaledCases[2]})
        expectNumericsDot(randomScaled(random, a, e8m0, c.lhs, c.lhsBlock, scale),
                          randomScaled(random, b, e8m0, c.rhs, c.rhsBlock, scale), c.dimensions);
    }
}

TEST(ScaledDotGeneral, IsNumericsDotForEveryGrid) {
  std::mt19937 random(5);
  for (std::string_view scaleName : {"e8m0fnu", "e4m3fn", "f32"}) {
    const ElementFormat& scaleFormat = *format::findElementFormat(scaleName);
    const auto scale = [&]() -> std::uint32_t {
      if (scaleFormat == element("f32"))
        return std::bit_cast<std::uint32_t>(std::normal_distribution<float>()(random));
      // All codes are drawn, so NaN scales of E8M0 and E4M3 and products beyond f32 occur.
      return random() & 0xFF;
    };
    for (const ScaledCase& c : kScaledCases)
      for (std::string_view name : {"e4m3fn", "e5m2", "e2m1fn", "int8"}) {
        const ElementFormat& e = *format::findElementFormat(name);
        ScaledTensor x = randomScaled(random, e, scaleFormat, c.lhs, c.lhsBlock, scale);
        ScaledTensor y = randomScaled(random, e, scaleFormat, c.rhs, c.rhsBlock, scale);
        expectNumericsDot(x, y, c.dimensions);
        for (const auto& [left, right] :
             {std::pair(0.37f, 1.9f), {1e22f, 3e21f}, {7e-22f, 3e-21f}}) {
          x.outer = left;
          y.outer = right;
          expectNumericsDot(x, y, c.dimensions);
        }
      }
  }
}

// E5M2 ranges from 2^-16 to 57344, so products are up to 65 bits apart, which f64 cannot add
// exactly in every order. Elements are drawn from both ends, with signs that cancel the large ones.
TEST(ScaledDotGeneral, IsNumericsDotWhereF64LosesBits) {
  std::mt19937 random(6);
  const ElementFormat& e5m2 = element("e5m2");
  for (int round = 0; round < 50; ++round) {
    ScaledTensor x =
        randomScaled(random, e5m2, element("e8m0fnu"), {6, 70}, {1, 32}, [] { return 127u; });
    ScaledTensor y =
        randomScaled(random, e5m2, element("e8m0fnu"), {9, 70}, {1, 32}, [] { return 127u; });
    constexpr std::uint8_t kEnds[] = {0x7B, 0xFB, 0x01, 0x81, 0x79, 0xF9, 0x03, 0x83};
    for (auto* tensor : {&x, &y})
      for (std::uint8_t& code : tensor->elements)
        code = kEnds[random() % std::size(kEnds)];
    expectNumericsDot(x, y, {{}, {}, {1}, {1}});
  }
}

// Two operations that f64 gets wrong in the order of K: 57344^2 + 2^-32 - 57344^2 is 2^-32.
TEST(ScaledDotGeneral, KeepsTheSmallestProductUnderTheLargest) {
  ScaledTensor x{{1, 3},
                 {&element("e5m2"), &element("e8m0fnu"), {1, 32}, false},
                 {0x7B, 1, 0x7B},
                 {127},
                 1.0f};
  ScaledTensor y = x;
  y.elements = {0x7B, 1, 0xFB};
  EXPECT_EQ(scaledDotGeneral(x, y, {{}, {}, {1}, {1}})[0], 0x1p-32f);
}

// Several contracted axes equal one row-major axis: [3, 4, 8] in blocks along the last axis is [3,
// 32] in blocks of 8. So is [8, 4, 3] with its contracted axes listed backwards.
TEST(ScaledDotGeneral, SeveralContractedAxesAreOne) {
  std::mt19937 random(7);
  const auto scale = [&] { return 120 + static_cast<std::uint32_t>(random() % 16); };
  const ElementFormat& e = element("e3m2fn");
  const ElementFormat& s = element("e8m0fnu");
  const ScaledTensor flat = randomScaled(random, e, s, {3, 32}, {1, 8}, scale);
  const ScaledTensor right = randomScaled(random, e, s, {5, 32}, {1, 32}, scale);
  ScaledTensor deep = flat, rightDeep = right, turned = flat;
  deep.shape = {3, 4, 8};
  deep.type.block = {1, 1, 8};
  rightDeep.shape = {5, 4, 8};
  rightDeep.type.block = {1, 4, 8};
  turned.shape = {8, 4, 3};
  turned.type.block = {8, 1, 1};
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t a = 0; a < 4; ++a) {
      turned.scales[a * 3 + row] = flat.scales[row * 4 + a];
      for (std::int64_t k = 0; k < 8; ++k)
        turned.elements[(k * 4 + a) * 3 + row] = flat.elements[row * 32 + a * 8 + k];
    }
  const std::vector<float> expected = scaledDotGeneral(flat, right, {{}, {}, {1}, {1}});
  EXPECT_EQ(scaledDotGeneral(deep, rightDeep, {{}, {}, {1, 2}, {1, 2}}), expected);
  EXPECT_EQ(scaledDotGeneral(turned, rightDeep, {{}, {}, {1, 0}, {1, 2}}), expected);
}

TEST(ScaledDotGeneral, BoundsOfExactSums) {
  // E2M1: products of at most 36 in quarters, 144; 2^24 holds the sum of 2^16 of them.
  EXPECT_EQ(exactSum(element("e2m1fn"), element("e2m1fn"), 32), ExactSum::InF32);
  EXPECT_EQ(exactSum(element("int8"), element("int8"), 256), ExactSum::InF32);
  EXPECT_EQ(exactSum(element("e4m3fn"), element("e4m3fn"), 32), ExactSum::InF64);
  EXPECT_EQ(exactSum(element("e4m3fn"), element("e4m3fn"), 1 << 17), ExactSum::InF64);
  EXPECT_EQ(exactSum(element("e4m3fn"), element("e4m3fn"), 1 << 18), ExactSum::Depends);
  EXPECT_EQ(exactSum(element("e5m2"), element("e5m2"), 1), ExactSum::Depends);
}

} // namespace
} // namespace octavo::interpreter
