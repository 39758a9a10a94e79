#include "octavo/Kernels/Product/Product.h"

#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Product/ProductTestOperands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace octavo::kernels {
namespace {

class Product : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(Product);

std::vector<float> expected(const ScaledTensor& a, const ScaledTensor& b) {
  std::vector<float> c;
  for (std::int64_t m = 0; m < a.shape[0]; ++m)
    for (std::int64_t n = 0; n < b.shape[0]; ++n)
      c.push_back(numerics::dot(vectorOf(a, m), vectorOf(b, n)));
  return c;
}

void expectDot(const OperandFormat& left, const OperandFormat& right, Shape shape, Range range,
               const Execution& execution, std::uint32_t seed) {
  Random random(seed);
  const ScaledTensor a = draw(left, shape.m, shape.k, range, random);
  const ScaledTensor b = draw(right, shape.n, shape.k, range, random);
  const auto plan = productPlan(left, right, shape.k, execution.isa);
  ASSERT_TRUE(plan) << plan.error();
  ASSERT_EQ(bitsOf(product(a, b, *plan, execution)), bitsOf(expected(a, b)))
      << left.element->name << " under " << left.scale->name << " times " << right.element->name
      << " under " << right.scale->name << ", " << shape.m << " x " << shape.n << " x " << shape.k;
}

TEST_P(Product, HasTheBitsOfDotForEveryPairOfExactFormats) {
  const OperandFormat perRow{&format::element("int8"), &kF32, 1, format::kWholeAxis};
  const OperandFormat grid{&format::element("int8"), &kF32, 128, 128};
  const OperandFormat formats[] = {mx("e2m1fn"), mx("e2m3fn"), mx("e3m2fn"), mx("int8"),
                                   nvfp4(),      perRow,       grid};
  const Shape shapes[] = {{1, 1, 1},     {1, 17, 33},  {2, 40, 300}, {3, 16, 32},
                          {4, 5, 16},    {5, 17, 600}, {6, 33, 64},  {7, 50, 100},
                          {8, 16, 1500}, {13, 33, 64}, {25, 19, 31}};
  std::uint32_t seed = 1;
  for (const OperandFormat& left : formats)
    for (const OperandFormat& right : formats)
      for (const Shape& shape : shapes)
        for (Range range : {Range::Ordinary, Range::Extreme})
          ASSERT_NO_FATAL_FAILURE(expectDot(left, right, shape, range, execution(), ++seed));
}

TEST_P(Product, HasTheBitsOfDotAcrossBlocksOfRowsColumnsAndDepth) {
  const Shape shape{300, 290, 1700};
  for (const auto& [left, right] :
       {std::pair(mx("e2m1fn"), mx("e2m1fn")), {nvfp4(), nvfp4()}, {mx("e3m2fn"), mx("int8")}}) {
    Random random(5);
    const ScaledTensor a = draw(left, shape.m, shape.k, Range::Ordinary, random);
    const ScaledTensor b = draw(right, shape.n, shape.k, Range::Ordinary, random);
    const auto plan = productPlan(left, right, shape.k, GetParam()).value();
    const std::vector<float> c = product(a, b, plan, execution());
    for (int i = 0; i < 1000; ++i) { // a step prime to both extents meets every tile's edges
      const std::int64_t at = std::int64_t{i} * 86837 % (shape.m * shape.n);
      const std::int64_t m = at / shape.n, n = at % shape.n;
      ASSERT_EQ(c[at], numerics::dot(vectorOf(a, m), vectorOf(b, n))) << m << ", " << n;
    }
  }
}

/// Of 1e-42 f32 has few digits, and 1e39 it has not, where it has the products.
TEST_P(Product, MultipliesOuterScalesWhoseProductF32DoesNotHold) {
  Random random(61);
  const Shape shape{21, 40, 320};
  const std::vector<float> bias = normals(static_cast<std::size_t>(shape.n), 1, random);
  for (const auto& [ofLeft, ofRight] : {std::pair(3e-21f, 7e-22f), {2e25f, 3e14f}}) {
    ScaledTensor a = draw(nvfp4(), shape.m, shape.k, Range::Ordinary, random);
    ScaledTensor b = draw(nvfp4(), shape.n, shape.k, Range::Ordinary, random);
    a.outer = ofLeft;
    b.outer = ofRight;
    if (ofLeft > 1) {
      a.scales.assign(a.scales.size(), 1);
      b.scales.assign(b.scales.size(), 1);
    }
    const auto plan = productPlan(nvfp4(), nvfp4(), shape.k, GetParam()).value();
    for (const std::int64_t rows : {std::int64_t{1}, shape.m}) {
      ScaledTensor some = a;
      some.shape[0] = rows;
      some.elements.resize(rows * shape.k);
      some.scales.resize(rows * shape.k / 16);
      const std::vector<float> wanted = expected(some, b);
      EXPECT_TRUE(std::ranges::all_of(wanted, [](float value) { return std::isfinite(value); }));
      EXPECT_LE(std::ranges::count(wanted, 0.0f), shape.n / 4);
      std::vector<float> c = product(some, b, plan, execution());
      EXPECT_EQ(bitsOf(c), bitsOf(wanted)) << ofLeft;
      const PackedOperand left = pack(some, Side::Left, plan, execution());
      const PackedOperand right = pack(b, Side::Right, plan, execution());
      multiply(plan, std::span(&left, 1), std::span(&right, 1), c.data(), {.bias = bias.data()},
               execution());
      for (std::size_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(c[i], wanted[i] + bias[i % bias.size()]) << ofLeft;
    }
  }
}

/// -2^127 and 2^128 are terms of one sum: each is rounded before it is added, so that the second is
/// infinite, where their difference would not be.
TEST_P(Product, RoundsATermBeforeItAddsIt) {
  for (const OperandFormat& format : {mx("e2m1fn"), mx("e2m3fn"), mx("e3m2fn")}) {
    const auto code = [&](double value) {
      return static_cast<std::uint8_t>(numerics::encode(*format.element, value));
    };
    ScaledTensor a{.shape = {5, 64},
                   .type = {format.element, format.scale, {1, 32}, false},
                   .elements = std::vector<std::uint8_t>(5 * 64, code(4)),
                   .scales = std::vector<std::uint32_t>(10, 127 + 60)};
    ScaledTensor b = a;
    b.scales.assign(10, 127 + 59);
    for (int row = 0; row < 5; ++row)
      for (int k = 0; k < 32; ++k)
        b.elements[row * 64 + k] = k < 16 ? code(-4) : code(0);
    const auto plan = productPlan(format, format, 64, GetParam()).value();
    ASSERT_TRUE(std::isinf(numerics::dot(vectorOf(a, 0), vectorOf(b, 0))));
    for (int rows : {1, 3, 5}) {
      const ScaledTensor some{.shape = {rows, 64},
                              .type = a.type,
                              .elements = {a.elements.begin(), a.elements.begin() + rows * 64},
                              .scales = {a.scales.begin(), a.scales.begin() + rows * 2}};
      EXPECT_EQ(bitsOf(product(some, b, plan, execution())), bitsOf(expected(some, b)))
          << format.element->name << ", " << rows;
    }
  }
}

/// The greatest integers of both sides, of one sign and of both: whatever sums them in fewer bits
/// than 32 is at its limits.
TEST_P(Product, SumsTheGreatestIntegers) {
  const OperandFormat formats[] = {mx("e2m1fn"), mx("e2m3fn"), mx("e3m2fn"), mx("int8")};
  constexpr std::int64_t kDepth = 64;
  for (const OperandFormat& left : formats)
    for (const OperandFormat& right : formats)
      for (int rows : {1, 4, 5, 13}) {
        auto extremes = [](const OperandFormat& format, std::int64_t n) {
          const format::ElementFormat& element = *format.element;
          const auto greatest = static_cast<std::uint8_t>(element.maxCode());
          const std::uint8_t least = element.isInteger() ? 0x80 : greatest | element.signMask();
          ScaledTensor matrix{.shape = {n, kDepth},
                              .type = {format.element, format.scale, {1, 32}},
                              .elements = std::vector<std::uint8_t>(n * kDepth),
                              .scales = std::vector<std::uint32_t>(n * 2, 127)};
          for (std::int64_t i = 0; i < n * kDepth; ++i) // rows of one sign, and of signs in turns
            matrix.elements[i] = i / kDepth % 4 < 2 ? (i / kDepth % 2 ? least : greatest)
                                 : (i / kDepth + i / 2 % 2) % 2 ? least
                                                                : greatest;
          return matrix;
        };
        const ScaledTensor a = extremes(left, rows), b = extremes(right, 20);
        const auto plan = productPlan(left, right, kDepth, GetParam()).value();
        EXPECT_EQ(bitsOf(product(a, b, plan, execution())), bitsOf(expected(a, b)))
            << left.element->name << " " << right.element->name << " " << rows;
      }
}

TEST_P(Product, IsTheSameForEveryNumberOfThreads) {
  Random random(7);
  for (const Shape& shape : {Shape{331, 777, 900}, Shape{7, 777, 900}}) {
    const ScaledTensor a = draw(mx("e2m1fn"), shape.m, shape.k, Range::Ordinary, random);
    const ScaledTensor b = draw(mx("e2m1fn"), shape.n, shape.k, Range::Ordinary, random);
    const auto plan = productPlan(mx("e2m1fn"), mx("e2m1fn"), shape.k, GetParam()).value();
    const auto one = bitsOf(product(a, b, plan, execution(1)));
    for (int threads : {2, 3, 7})
      EXPECT_EQ(one, bitsOf(product(a, b, plan, execution(threads)))) << threads;
  }
}

/// The statement of Product.h, in scalar.
float fixedPointDot(std::span<const float> x, const numerics::ScaledVector& w) {
  float sum = 0;
  const auto size = static_cast<std::int64_t>(x.size());
  for (std::int64_t begin = 0; begin < size; begin += w.blockSize) {
    const std::int64_t end = std::min(size, begin + w.blockSize);
    float amax = 0;
    for (std::int64_t k = begin; k < end; ++k)
      amax = std::max(amax, std::fabs(x[k]));
    const int e = amax == 0 ? 0 : std::max(std::ilogb(amax) - 21, -80);
    std::int64_t exact = 0;
    for (std::int64_t k = begin; k < end; ++k)
      exact += static_cast<std::int64_t>(std::nearbyint(std::ldexp(x[k], -e))) *
               static_cast<std::int64_t>(2 * numerics::decode(*w.element, w.elements[k]));
    sum += static_cast<float>(std::ldexp(static_cast<float>(exact), e - 1) *
                              numerics::decode(*w.scale, w.scales[begin / w.blockSize]));
  }
  return sum * w.outer;
}

TEST_P(Product, FloatActivationsAreTheStatedFixedPointWithinTheStatedError) {
  for (const OperandFormat& right : {mx("e2m1fn"), nvfp4()})
    for (const Shape& shape :
         {Shape{1, 1, 1}, {1, 40, 1000}, {2, 20, 700}, {3, 17, 77}, {4, 100, 130}})
      for (const bool isWide : {false, true}) {
        Random random(static_cast<std::uint32_t>(shape.k));
        const ScaledTensor w = draw(right, shape.n, shape.k, Range::Ordinary, random);
        std::vector<float> x(static_cast<std::size_t>(shape.m * shape.k));
        std::normal_distribution<float> normal;
        for (float& value : x)
          value = normal(random);
        if (isWide)
          for (std::size_t i = 0; i < x.size(); i += 5)
            x[i] = std::ldexp(x[i], static_cast<int>(random() % 170) - 120);
        const auto plan = productPlan(floatOperand(), right, shape.k, GetParam()).value();
        std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
        multiply(plan, pack(x, plan), pack(w, Side::Right, plan), c, execution());
        std::vector<float> stated;
        for (std::int64_t m = 0; m < shape.m; ++m)
          for (std::int64_t n = 0; n < shape.n; ++n)
            stated.push_back(
                fixedPointDot(std::span(x).subspan(m * shape.k, shape.k), vectorOf(w, n)));
        ASSERT_EQ(bitsOf(c), bitsOf(stated)) << right.scale->name << " " << shape.k;
        if (isWide)
          continue;
        const std::vector<float> values = numerics::dequantize(w);
        const std::int64_t block = right.along;
        const double blocks = std::ceil(static_cast<double>(shape.k) / block);
        for (std::int64_t m = 0; m < shape.m; ++m)
          for (std::int64_t n = 0; n < shape.n; ++n) {
            double exact = 0, bound = 0, terms = 0;
            for (std::int64_t begin = 0; begin < shape.k; begin += block) {
              double amax = 0, weights = 0, term = 0;
              for (std::int64_t k = begin; k < std::min(shape.k, begin + block); ++k) {
                const double value = values[n * shape.k + k];
                amax = std::max(amax, std::fabs(double{x[m * shape.k + k]}));
                weights += std::fabs(value);
                term += value * x[m * shape.k + k];
              }
              exact += term;
              terms += std::fabs(term);
              bound += amax * weights * 0x1p-22 + std::fabs(term) * 0x1p-23;
            }
            bound = 1.01 * (bound + (blocks + 1) * 0x1p-24 * terms);
            ASSERT_LE(std::fabs(c[m * shape.n + n] - exact), bound) << m << " " << n;
          }
      }
}

TEST_P(Product, AnInfiniteActivationMakesItsRowWhatIeeeSays) {
  Random random(3);
  const ScaledTensor w = draw(mx("e2m1fn"), 20, 96, Range::Ordinary, random);
  std::vector<float> x(3 * 96, 1.0f);
  x[96 + 40] = std::numeric_limits<float>::infinity();
  const auto plan = productPlan(floatOperand(), mx("e2m1fn"), 96, GetParam()).value();
  std::vector<float> c(3 * 20);
  multiply(plan, pack(x, plan), pack(w, Side::Right, plan), c, execution());
  int infinite = 0, nan = 0;
  for (int i = 0; i < 60; ++i) {
    if (i / 20 != 1) {
      EXPECT_TRUE(std::isfinite(c[i])) << i;
      continue;
    }
    const double weight = numerics::decode(*w.type.element, w.elements[i % 20 * 96 + 40]);
    const auto wanted = static_cast<float>(HUGE_VAL * weight);
    EXPECT_EQ(bitsOf({c[i]}), bitsOf({wanted})) << i;
    infinite += std::isinf(c[i]);
    nan += std::isnan(c[i]);
  }
  EXPECT_GT(infinite, 0);
  EXPECT_GT(nan, 0);
}

/// Every code against 1: the value itself, NaN and Inf included.
TEST_P(Product, OfFloatsDecodesEveryCode) {
  for (std::string_view name : {"e4m3fn", "e5m2", "e4m3", "e3m4"}) {
    const format::ElementFormat& element = *format::findElementFormat(name);
    for (std::uint32_t scale : {0u, 60u, 127u, 200u, 254u}) {
      ScaledTensor a{.shape = {256, 1},
                     .type = {&element, &kE8M0, {1, 1}, false},
                     .elements = {},
                     .scales = {}};
      for (int code = 0; code < 256; ++code) {
        a.elements.push_back(static_cast<std::uint8_t>(code));
        a.scales.push_back(scale);
      }
      const auto one = static_cast<std::uint8_t>(numerics::encode(element, 1.0));
      const ScaledTensor b{.shape = {1, 1},
                           .type = {&element, &kE8M0, {1, 1}, false},
                           .elements = {one},
                           .scales = {127}};
      const auto plan = productPlan(mx(name), mx(name), 1, GetParam()).value();
      std::vector<float> wanted;
      for (int code = 0; code < 256; ++code)
        wanted.push_back(0.0f + static_cast<float>(numerics::decode(element, code) *
                                                   numerics::decode(kE8M0, scale)));
      EXPECT_EQ(bitsOf(product(a, b, plan, execution())), bitsOf(wanted)) << name << " " << scale;
      ScaledTensor row = b;
      EXPECT_EQ(bitsOf(product(row, a, plan, execution())), bitsOf(wanted)) << name << " " << scale;
    }
  }
}

TEST_P(Product, OfFloatsCarriesNanScalesAndIsTheSameForEveryNumberOfThreads) {
  Random random(13);
  const OperandFormat format = mx("e4m3fn");
  ScaledTensor a = drawFinite(format, 410, 700, random);
  const ScaledTensor b = drawFinite(format, 540, 700, random);
  a.scales[22 * 5 + 3] = 255;
  const auto plan = productPlan(format, format, 700, GetParam()).value();
  const std::vector<float> one = product(a, b, plan, execution(1));
  for (std::size_t i = 0; i < one.size(); ++i)
    ASSERT_EQ(std::isnan(one[i]), i / 540 == 5) << i;
  for (int threads : {2, 3, 7})
    EXPECT_EQ(bitsOf(one), bitsOf(product(a, b, plan, execution(threads)))) << threads;
}

TEST(ProductPlanTest, SaysWhyThereIsNone) {
  auto error = [](const OperandFormat& left, const OperandFormat& right, std::int64_t depth) {
    auto plan = productPlan(left, right, depth, Isa::Portable);
    return plan ? "" : plan.error();
  };
  EXPECT_EQ(error(mx("e2m1fn"), mx("e2m1fn"), 0), "a product along an axis of 0 elements");
  OperandFormat odd = mx("e2m1fn");
  odd.along = 20;
  EXPECT_NE(error(odd, mx("e2m1fn"), 64).find("blocks of 20 and 32"), std::string::npos);
  OperandFormat scale = mx("e2m1fn");
  scale.element = &kE8M0;
  EXPECT_NE(error(mx("e4m3fn"), scale, 64).find("an operand of e8m0fnu"), std::string::npos);
  EXPECT_NE(error(mx("e4m3fn"), floatOperand(), 64).find("an operand of f32 under no scale"),
            std::string::npos);
  OperandFormat halves = operandFormat(*format::findScaledFormat("fp8_block"));
  halves.along = 64;
  EXPECT_NE(error(halves, operandFormat(*format::findScaledFormat("fp8_block")), 256)
                .find("f32 scales for blocks of 64 and of 128"),
            std::string::npos);
  halves.along = 48;
  EXPECT_NE(error(halves, halves, 256).find("f32 scales for blocks of 48"), std::string::npos);
  const OperandFormat perRow{&format::element("int8"), &kF32, 1, format::kWholeAxis};
  EXPECT_NE(error(perRow, perRow, 1 << 20).find("exact in 32 bits up to 131071"),
            std::string::npos);
}

} // namespace
} // namespace octavo::kernels
