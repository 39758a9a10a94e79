#include "octavo/Program/Values/Comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::program {
namespace {

using format::element;
using numerics::IntegerType;
using numerics::Tensor;

Tensor f64(std::vector<std::int64_t> shape, std::vector<double> values) {
  Tensor tensor = Tensor::zeros(element("f64"), std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<double>().begin());
  return tensor;
}

Tensor f32(std::vector<float> values) {
  Tensor tensor = Tensor::zeros(element("f32"), {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

TEST(UlpDistance, countsValuesBetween) {
  const float tiny = std::numeric_limits<float>::denorm_min(), nan = std::nanf("");
  EXPECT_EQ(ulpDistance(f32({1, 2}), f32({1, 2})).largest, 0);
  EXPECT_TRUE(ulpDistance(f32({0, nan}), f32({-0.0f, -nan})).where.empty());
  // 1 - 2^-24, 1, 1 + 2^-23: neighbours in f32; the spacing below 1 is half of that above.
  const auto apart = ulpDistance(f32({1, 1}), f32({1, 1 - 0x1p-24f}));
  EXPECT_EQ(apart.largest, 1);
  EXPECT_EQ(apart.where, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(ulpDistance(f32({-tiny}), f32({2 * tiny})).largest, 3);
  EXPECT_EQ(ulpDistance(f32({nan}), f32({1})).largest, std::numeric_limits<double>::infinity());
  EXPECT_EQ(ulpDistance(f32({1, 2}), f32({1})).largest, std::numeric_limits<double>::infinity());
}

// By hand: a = (3, 4), b = (4, 3): cosine 24 / 25, |a - b| = sqrt 2, |a| = 5.
TEST(Comparison, figuresOfTwoVectors) {
  const Comparison c = compare(f64({1, 2}, {3, 4}), f64({1, 2}, {4, 3}));
  EXPECT_DOUBLE_EQ(c.cosine, 0.96);
  EXPECT_DOUBLE_EQ(c.relative, std::sqrt(2.0) / 5);
  EXPECT_DOUBLE_EQ(c.maximum, 1);
  EXPECT_EQ(c.where, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(c.nonFinite, 0);
}

TEST(Comparison, equalTensors) {
  const Tensor a = f64({2, 2}, {1, -2, 1e300, 4});
  const Comparison c = compare(a, a);
  EXPECT_DOUBLE_EQ(c.cosine, 1);
  EXPECT_EQ(c.relative, 0);
  EXPECT_EQ(c.maximum, 0);
  EXPECT_TRUE(c.where.empty());
}

TEST(Comparison, largeValuesDoNotOverflow) {
  const Comparison c = compare(f64({2}, {3e200, 4e200}), f64({2}, {4e200, 3e200}));
  EXPECT_DOUBLE_EQ(c.cosine, 0.96);
  EXPECT_DOUBLE_EQ(c.maximum, 1e200);
}

TEST(Comparison, zeros) {
  EXPECT_EQ(compare(f64({2}, {0, 0}), f64({2}, {0, -0.0})).cosine, 1);
  const Comparison c = compare(f64({2}, {0, 0}), f64({2}, {0, 1}));
  EXPECT_EQ(c.cosine, 0);
  EXPECT_TRUE(std::isinf(c.relative));
  EXPECT_EQ(c.where, std::vector<std::int64_t>{1});
  EXPECT_EQ(compare(f64({2}, {0, 1}), f64({2}, {0, 0})).relative, 1);
}

TEST(Comparison, noElements) {
  const Comparison c = compare(f64({0, 3}, {}), f64({0, 3}, {}));
  EXPECT_EQ(c.cosine, 1);
  EXPECT_EQ(c.relative, 0);
  EXPECT_EQ(c.maximum, 0);
}

TEST(Comparison, nanAndInfinityAreCountedWhereTheyDiffer) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Comparison c =
      compare(f64({6}, {nan, inf, -inf, nan, 1, 2}), f64({6}, {nan, inf, inf, 1, 1, inf}));
  EXPECT_EQ(c.nonFinite, 3);
  EXPECT_EQ(c.maximum, 0);
  EXPECT_DOUBLE_EQ(c.cosine, 1);
}

TEST(Comparison, narrowFloatsAndIntegersCountAsTheirValues) {
  Tensor f8 = Tensor::zeros(element("e4m3fn"), {1});
  f8.setCode(0, 0x38); // 1.0
  EXPECT_EQ(valueOf(f8, 0), 1.0);
  Tensor i8 = Tensor::zeros(IntegerType{8, false}, {1});
  i8.setCode(0, 0xff);
  EXPECT_EQ(valueOf(i8, 0), -1.0);
  Tensor u8 = Tensor::zeros(IntegerType{8, true}, {1});
  u8.setCode(0, 0xff);
  EXPECT_EQ(valueOf(u8, 0), 255.0);
  Tensor i4 = Tensor::zeros(IntegerType{4, false}, {1});
  i4.setCode(0, 0x9);
  EXPECT_EQ(valueOf(i4, 0), -7.0);
  Tensor i1 = Tensor::zeros(IntegerType{1, false}, {1});
  i1.setCode(0, 1);
  EXPECT_EQ(valueOf(i1, 0), 1.0);
}

TEST(Comparison, distancesInUlpAreCountedInIntegers) {
  // Neighbouring values by the C library's nextafter, whose codes are beyond 2^53.
  for (const double value : {2.75, -3.5500692345678901, 1e300, 5e-324}) {
    double other = value;
    for (int ulps = 0; ulps < 5; ++ulps) {
      EXPECT_EQ(ulpDistance(f64({1}, {value}), f64({1}, {other})).largest, ulps) << value;
      EXPECT_EQ(ulpDistance(f64({1}, {other}), f64({1}, {value})).largest, ulps) << value;
      other = std::nextafter(other, INFINITY);
    }
  }
  // Across zero, whose two codes count as one value: from 3 codes below to 2 above.
  const double least = std::nextafter(0.0, 1.0);
  EXPECT_EQ(ulpDistance(f64({1}, {-3 * least}), f64({1}, {2 * least})).largest, 5);
  EXPECT_EQ(ulpDistance(f64({1}, {-0.0}), f64({1}, {0.0})).largest, 0);
}

TEST(Comparison, differencesOfIntegersAreCountedInIntegers) {
  const auto one = [](bool isUnsigned, std::uint64_t code) {
    Tensor tensor = Tensor::zeros(IntegerType{64, isUnsigned}, {1});
    tensor.setCode(0, code);
    return tensor;
  };
  constexpr std::uint64_t k2To53 = std::uint64_t{1} << 53, kLeast = std::uint64_t{1} << 63;
  for (const bool isUnsigned : {false, true}) {
    const Comparison c = compare(one(isUnsigned, k2To53), one(isUnsigned, k2To53 + 1));
    EXPECT_EQ(c.maximum, 1);
    EXPECT_GT(c.relative, 0);
    EXPECT_EQ(ulpDistance(one(isUnsigned, k2To53), one(isUnsigned, k2To53 + 1)).largest, 1);
  }
  EXPECT_EQ(ulpDistance(one(false, kLeast), one(false, kLeast - 1)).largest, 0x1p64) << "all codes";
  EXPECT_EQ(ulpDistance(one(false, ~std::uint64_t{0}), one(false, 1)).largest, 2) << "-1 and 1";
  EXPECT_EQ(ulpDistance(one(true, ~std::uint64_t{0}), one(true, ~std::uint64_t{0} - 3)).largest, 3);
}

TEST(Comparison, indexOfAnElement) {
  const std::vector<std::int64_t> shape = {2, 3, 4};
  EXPECT_EQ(indexOf(shape, 23), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(indexOf(shape, 5), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_TRUE(indexOf({}, 0).empty());
}

} // namespace
} // namespace octavo::program
