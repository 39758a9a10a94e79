#include "octavo/Session/Binding/OutputLosses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace octavo::session {
namespace {

using analysis::Losses;
using analysis::Metric;
using numerics::Tensor;

Tensor matrix(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Tensor tensor = Tensor::zeros(format::element("f32"), std::move(shape));
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

TEST(OutputLossesTest, ACosineIsThatOfEachRow) {
  // At 0, 45 and 90 degrees, and opposite.
  const Tensor reference = matrix({4, 2}, {3, 0, 3, 0, 3, 0, 3, 0});
  const Tensor value = matrix({4, 2}, {6, 0, 1, 1, 0, 2, -1, 0});
  const Losses losses = lossesOf(Metric::Cosine, reference, value);
  ASSERT_EQ(losses.size(), 4u);
  EXPECT_EQ(losses[0], 0);
  EXPECT_NEAR(losses[1], 1 - std::numbers::sqrt2 / 2, 1e-15);
  EXPECT_NEAR(losses[2], 1, 1e-15);
  EXPECT_NEAR(losses[3], 2, 1e-15);
  EXPECT_EQ(lossesOf(Metric::Cosine, matrix({2}, {1, 0}), matrix({2}, {1, 0})).size(), 1u);
}

TEST(OutputLossesTest, ACosineNearOneHasItsDigits) {
  // tan(x) = 1e-7 gives 1 - cos(x) = 5e-15; 1 - ab / sqrt(aa bb) in f64 has one digit of it.
  const Losses losses = lossesOf(Metric::Cosine, matrix({2}, {1, 0}), matrix({2}, {1, 1e-7F}));
  const double tangent = static_cast<double>(1e-7F);
  EXPECT_NEAR(losses[0] / (tangent * tangent / 2), 1, 1e-6);
}

TEST(OutputLossesTest, RowsOfZerosHaveNoDirection) {
  const Tensor zero = matrix({2}, {0, 0}), other = matrix({2}, {0, 1});
  EXPECT_EQ(lossesOf(Metric::Cosine, zero, zero), Losses{0});
  EXPECT_EQ(lossesOf(Metric::Cosine, zero, other), Losses{1});
  EXPECT_EQ(lossesOf(Metric::Cosine, other, zero), Losses{1});
  EXPECT_EQ(lossesOf(Metric::Relative, zero, zero), Losses{0});
  EXPECT_EQ(lossesOf(Metric::Relative, zero, other),
            Losses{std::numeric_limits<double>::infinity()});
}

TEST(OutputLossesTest, OtherMetricsAreOfTheWholeOutput) {
  // |d|^2 = 0.04 + 0.09 = 0.13, |reference|^2 = 4 + 9 = 13, the largest difference 0.3.
  const Tensor reference = matrix({2, 1}, {2, 3}), value = matrix({2, 1}, {2.2F, 2.7F});
  for (const Metric metric : {Metric::Relative, Metric::Sqnr}) {
    const Losses losses = lossesOf(metric, reference, value);
    ASSERT_EQ(losses.size(), 1u);
    EXPECT_NEAR(losses[0], 0.01, 1e-8);
  }
  EXPECT_NEAR(lossesOf(Metric::Maximum, reference, value)[0], 0.09, 1e-6);
}

TEST(OutputLossesTest, WhatIsNotFiniteIsInfinitelyFar) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor reference = matrix({2, 2}, {1, 2, 3, 4}), value = matrix({2, 2}, {1, 2, nan, 4});
  EXPECT_EQ(lossesOf(Metric::Cosine, reference, value), (Losses{0, infinity}));
  EXPECT_EQ(lossesOf(Metric::Maximum, reference, value), (Losses{infinity}));
}

TEST(OutputLossesTest, OtherShapesAreInfinitelyFar) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor reference = matrix({2, 2}, {1, 2, 3, 4}), value = matrix({1, 2}, {1, 2});
  EXPECT_EQ(lossesOf(Metric::Cosine, reference, value), (Losses{infinity, infinity}));
  EXPECT_EQ(lossesOf(Metric::Relative, reference, value), (Losses{infinity}));
  EXPECT_EQ(lossesOf(Metric::Cosine, value, reference), (Losses{infinity}));
}

TEST(OutputLossesTest, ComplexNumbersCountAsTwo) {
  Tensor reference = Tensor::zeros(numerics::ComplexType{&format::element("f32")}, {2, 1});
  Tensor value = reference;
  // The second number is 1 in `one` and i in `other`.
  const std::vector<float> one = {1, 0, 1, 0}, other = {1, 0, 0, 1};
  std::memcpy(reference.bytes.data(), one.data(), 16);
  std::memcpy(value.bytes.data(), other.data(), 16);
  const Losses losses = lossesOf(Metric::Cosine, reference, value);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0], 0);
  EXPECT_NEAR(losses[1], 1, 1e-15);
}

TEST(OutputLossesTest, ARowOfOneElementCanFail) {
  const auto f32 = [](std::vector<std::int64_t> shape, const std::vector<float>& values) {
    Tensor tensor = Tensor::zeros(format::element("f32"), std::move(shape));
    std::memcpy(tensor.bytes.data(), values.data(), 4 * values.size());
    return tensor;
  };
  // Relative errors of 8 %, 0 and 50 %; losses are half of their squares.
  const Losses losses =
      lossesOf(Metric::Cosine, f32({3, 1}, {100, 4, -2}), f32({3, 1}, {108, 4, -3}));
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_NEAR(losses[0], 0.0032, 1e-12);
  EXPECT_EQ(losses[1], 0);
  EXPECT_NEAR(losses[2], 0.125, 1e-12);
  EXPECT_NEAR(lossesOf(Metric::Cosine, f32({}, {100}), f32({}, {92}))[0], 0.0032, 1e-12);
  EXPECT_EQ(lossesOf(Metric::Cosine, f32({1}, {1}), f32({1}, {-9}))[0], 2)
      << "no cosine is below -1";
  EXPECT_EQ(lossesOf(Metric::Cosine, f32({1}, {0}), f32({1}, {3}))[0], 1);
  EXPECT_EQ(lossesOf(Metric::Cosine, f32({1}, {0}), f32({1}, {0}))[0], 0);
  EXPECT_EQ(lossesOf(Metric::Cosine, f32({1}, {1}), f32({1}, {INFINITY}))[0], INFINITY);
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{}, {1}, {8, 1}, {2, 3, 1}})
    EXPECT_TRUE(hasRowsOfOne(shape));
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{{2}, {1, 2}})
    EXPECT_FALSE(hasRowsOfOne(shape));
}

TEST(OutputLossesTest, ManyPartsAreTheWorstOfNeighbours) {
  Losses losses(130, 0);
  losses[3] = 1;
  losses[129] = 2;
  const Losses parts = limitParts(losses, 64);
  ASSERT_EQ(parts.size(), 44u); // of 3 rows each
  EXPECT_EQ(parts[1], 1);
  EXPECT_EQ(parts[43], 2);
  EXPECT_EQ(limitParts({1, 2}, 64), (Losses{1, 2}));
  EXPECT_EQ(lossesOf(Metric::Cosine, Tensor::zeros(format::element("f32"), {0, 4}),
                     Tensor::zeros(format::element("f32"), {0, 4})),
            Losses{0});
}

} // namespace
} // namespace octavo::session
