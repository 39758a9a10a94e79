// Products that quantize rows on the way, held to quantizing and packing all rows, then multiply:
// the two share no cut into panels, and ProductTest.cpp and ProductFormatsTest.cpp hold the latter
// to scalar definitions.
#include "octavo/Kernels/Product/RowProduct.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Product/ProductTestOperands.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace octavo::kernels {
namespace {

class RowProducts : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(RowProducts);

/// One panel, few rows or many; several; and with blocks of 128 rows a last one of 8, which must
/// not be summed as few rows are.
constexpr Shape kRowShapes[] = {{1, 20, 70},    {5, 33, 96},    {16, 17, 128}, {50, 35, 300},
                                {200, 70, 160}, {385, 40, 257}, {520, 33, 64}};

/// Rows of values, `stride` apart, of which some are far from 1.
std::vector<float> drawRows(Shape shape, std::ptrdiff_t stride, Random& random) {
  std::vector<float> values = normals(static_cast<std::size_t>(shape.m * stride), 1, random);
  for (std::size_t i = 0; i < values.size(); i += 37)
    values[i] *= std::ldexp(1.0f, static_cast<int>(random() % 20) - 10);
  for (std::int64_t k = 0; k < shape.k && shape.m > 3; ++k)
    values[static_cast<std::size_t>(3 * stride + k)] *= 0x1p70f; // floats: a shifted row
  return values;
}

std::vector<float> contiguous(const std::vector<float>& values, Shape shape,
                              std::ptrdiff_t stride) {
  std::vector<float> rows;
  for (std::int64_t m = 0; m < shape.m; ++m)
    rows.insert(rows.end(), values.begin() + m * stride, values.begin() + m * stride + shape.k);
  return rows;
}

std::vector<float> packedAtOnce(const std::vector<float>& rows, const ProductPlan& plan,
                                const PackedOperand& right, Shape shape,
                                const Execution& execution) {
  std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
  const PackedOperand left = plan.left.scale ? quantizeAndPack(rows, plan, {}, execution).value()
                                             : pack(rows, plan, execution);
  multiply(plan, left, right, c, execution);
  return c;
}

/// Left formats, f32 among them, and right ones: each pair that has a plan.
template <typename Body> void forPairs(Isa isa, std::int64_t depth, Body body) {
  std::vector<std::pair<std::string, OperandFormat>> formats{{"f32", floatOperand()}};
  for (const format::ScaledFormat& format : format::kScaledFormats)
    formats.emplace_back(format.name, operandFormat(format));
  int pairs = 0;
  for (const auto& [leftName, left] : formats)
    for (const auto& [rightName, right] : formats)
      if (right.scale != nullptr)
        if (const auto plan = productPlan(left, right, depth, isa)) {
          ++pairs;
          body(*plan, leftName + " * " + rightName);
        }
  EXPECT_GT(pairs, 100);
}

TEST_P(RowProducts, AreTheBitsOfPackingAllRowsAtOnce) {
  for (const Shape& shape : kRowShapes) {
    Random random(static_cast<std::uint32_t>(shape.m));
    const std::ptrdiff_t stride = shape.k + 5, cStride = shape.n + 3;
    const std::vector<float> values = drawRows(shape, stride, random);
    const std::vector<float> rows = contiguous(values, shape, stride);
    forPairs(GetParam(), shape.k, [&](const ProductPlan& plan, const std::string& what) {
      const PackedOperand right =
          pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
      const auto expected = bitsOf(packedAtOnce(rows, plan, right, shape, execution()));
      for (int threads : {1, 2}) {
        std::vector<float> c(static_cast<std::size_t>(shape.m * cStride), 7.0f);
        std::vector<std::atomic<int>> finished(static_cast<std::size_t>(shape.m));
        auto finish = [](void* context, std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row)
            ++(*static_cast<std::vector<std::atomic<int>>*>(
                context))[static_cast<std::size_t>(row)];
        };
        const RowFinisher finisher{finish, &finished};
        ASSERT_TRUE(multiplyRows(plan, values.data(), stride, shape.m, right, c.data(), cStride, {},
                                 execution(threads), finisher));
        ASSERT_EQ(bitsOf(contiguous(c, {shape.m, 0, shape.n}, cStride)), expected)
            << what << " " << shape.m << " rows, " << threads << " threads";
        for (std::int64_t m = 0; m < shape.m; ++m) {
          ASSERT_EQ(finished[static_cast<std::size_t>(m)], 1) << what << ", row " << m;
          for (std::int64_t n = shape.n; n < cStride; ++n)
            ASSERT_EQ(c[static_cast<std::size_t>(m * cStride + n)], 7.0f) << "between rows of C";
        }
        if (threads == 1)
          continue;
        std::vector<float> near(expected.size());
        ASSERT_TRUE(multiplyRows(plan, rows.data(), shape.k, shape.m, right, near.data(), shape.n,
                                 {}, execution(threads)));
        ASSERT_EQ(bitsOf(near), expected) << what << ", rows one behind the other";
      }
    });
  }
}

TEST_P(RowProducts, OfAnOperandThatIsDecodedAheadHaveTheSameBits) {
  int decoded = 0;
  for (const Shape& shape : kRowShapes) {
    if (shape.m > 200)
      continue; // more rows are as many
    Random random(static_cast<std::uint32_t>(shape.n));
    const std::vector<float> rows = drawRows(shape, shape.k, random);
    forPairs(GetParam(), shape.k, [&](const ProductPlan& plan, const std::string& what) {
      if (shape.m <= plan.mostFewRows)
        return; // summed in a way of their own
      PackedOperand right =
          pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
      const auto expected = bitsOf(packedAtOnce(rows, plan, right, shape, execution()));
      const auto before = right.storage;
      right = decodedAhead(plan, std::move(right), execution(2));
      decoded += right.storage != before ? 1 : 0;
      ASSERT_EQ(bitsOf(packedAtOnce(rows, plan, right, shape, execution())), expected) << what;
      std::vector<float> c(expected.size());
      ASSERT_TRUE(multiplyRows(plan, rows.data(), shape.k, shape.m, right, c.data(), shape.n, {},
                               execution(2)));
      ASSERT_EQ(bitsOf(c), expected) << what;
    });
  }
  EXPECT_EQ(decoded > 0, usesBf16(GetParam()));
}

TEST_P(RowProducts, OfOneRowAndAnOperandThatIsDecodedAheadAreNear) {
  forPairs(GetParam(), 300, [&](const ProductPlan& plan, const std::string& what) {
    const Shape shape{1, 20, 300};
    Random random(5);
    const std::vector<float> rows = normals(300, 1, random);
    PackedOperand right =
        pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
    const std::vector<float> expected = packedAtOnce(rows, plan, right, shape, execution());
    right = decodedAhead(plan, std::move(right), execution());
    const std::vector<float> found = packedAtOnce(rows, plan, right, shape, execution());
    const float largest =
        std::abs(*std::ranges::max_element(expected, {}, [](float x) { return std::abs(x); }));
    for (std::size_t n = 0; n < expected.size(); ++n)
      ASSERT_NEAR(found[n], expected[n], 1e-4f * largest) << what;
  });
}

TEST_P(RowProducts, OfBf16AreThoseOfTheSameValues) {
  const Shape shape{200, 40, 128};
  const format::ScaledFormat* formats[] = {
      format::findScaledFormat("mxfp4"), format::findScaledFormat("mxfp8_e4m3"),
      format::findScaledFormat("nvfp4"), format::findScaledFormat("mxint8")};
  for (const format::ScaledFormat* format : formats)
    for (const OperandFormat& left : {floatOperand(), operandFormat(*format)}) {
      Random random(5);
      std::vector<std::uint16_t> halves;
      std::vector<float> values;
      for (float value : normals(static_cast<std::size_t>(shape.m * shape.k), 1, random)) {
        halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
        values.push_back(std::bit_cast<float>(std::uint32_t{halves.back()} << 16));
      }
      const auto plan = productPlan(left, operandFormat(*format), shape.k, GetParam()).value();
      const PackedOperand right =
          pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
      std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
      ASSERT_TRUE(multiplyRows(plan, halves.data(), shape.k, shape.m, right, c.data(), shape.n, {},
                               execution()));
      EXPECT_EQ(bitsOf(c), bitsOf(packedAtOnce(values, plan, right, shape, execution())))
          << format->name;
    }
}

TEST_P(RowProducts, TellTheFirstValueThatIsRefusedOrCarryIt) {
  const Shape shape{400, 40, 128};
  for (std::string_view name : {"mxfp4", "nvfp4", "fp8_tensor", "fp8_row"}) {
    const OperandFormat format = operandFormat(*format::findScaledFormat(name));
    Random random(9);
    std::vector<float> values = drawRows(shape, shape.k, random);
    values[395 * 128 + 3] = std::numeric_limits<float>::quiet_NaN();
    values[390 * 128 + 7] = std::numeric_limits<float>::infinity();
    values[80 * 128 + 11] = -std::numeric_limits<float>::infinity();
    const auto plan = productPlan(format, format, shape.k, GetParam()).value();
    const PackedOperand right =
        pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
    std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
    for (int threads : {1, 2}) {
      const auto refused =
          multiplyRows(plan, values.data(), shape.k, shape.m, right, c.data(), shape.n,
                       {.nonFinite = numerics::NonFinite::Error}, execution(threads));
      ASSERT_FALSE(refused) << name;
      EXPECT_EQ(refused.error().index, 80 * 128 + 11) << name;
      EXPECT_EQ(refused.error().value, -std::numeric_limits<float>::infinity()) << name;
      const numerics::QuantizeOptions carry{.nonFinite = numerics::NonFinite::Saturate};
      ASSERT_TRUE(multiplyRows(plan, values.data(), shape.k, shape.m, right, c.data(), shape.n,
                               carry, execution(threads)));
      std::vector<float> expected(c.size());
      multiply(plan, quantizeAndPack(values, plan, carry, execution()).value(), right, expected,
               execution());
      EXPECT_EQ(bitsOf(c), bitsOf(expected)) << name;
    }
  }
}

/// A given amax of the tensor: the panels need no look at all rows.
TEST_P(RowProducts, AGivenAmax) {
  const Shape shape{.m = 400, .n = 96, .k = 128};
  for (const char* name : {"fp8_tensor", "nvfp4"}) {
    const OperandFormat format = operandFormat(*format::findScaledFormat(name));
    Random random(10);
    const std::vector<float> values = drawRows(shape, shape.k, random);
    const auto plan = productPlan(format, format, shape.k, GetParam()).value();
    const PackedOperand right =
        pack(drawFinite(plan.right, shape.n, shape.k, random), Side::Right, plan, execution());
    std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n)), expected(c);
    for (const float amax : {0.01f, 3.0f}) {
      const numerics::QuantizeOptions options{.amax = amax};
      for (int threads : {1, 2}) {
        ASSERT_TRUE(multiplyRows(plan, values.data(), shape.k, shape.m, right, c.data(), shape.n,
                                 options, execution(threads)));
        multiply(plan, quantizeAndPack(values, plan, options, execution()).value(), right, expected,
                 execution());
        EXPECT_EQ(bitsOf(c), bitsOf(expected)) << name << " " << amax;
      }
    }
  }
}

} // namespace
} // namespace octavo::kernels
