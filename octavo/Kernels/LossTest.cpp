#include "octavo/Kernels/Loss.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace octavo::kernels {
namespace {

/// One value after the other, by the definition.
struct PlainLoss {
  double largest = 0, largestRelative = 0, errorSquares = 0, valueSquares = 0;
  void add(float value, float quantized) {
    const double error = std::fabs(static_cast<double>(value) - quantized);
    if (std::isnan(error))
      return;
    largest = std::max(largest, error);
    if (value != 0)
      largestRelative = std::max(largestRelative, error / std::fabs(value));
    errorSquares += error * error;
    valueSquares += static_cast<double>(value) * value;
  }
};

class LossKernels : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(LossKernels);

void expectLike(const Loss& loss, const PlainLoss& plain, std::size_t n) {
  EXPECT_EQ(loss.largest(), plain.largest) << n;
  EXPECT_DOUBLE_EQ(loss.largestRelative(), plain.largestRelative) << n;
  EXPECT_NEAR(loss.errorSquares(), plain.errorSquares, plain.errorSquares * 1e-12) << n;
  EXPECT_NEAR(loss.valueSquares(), plain.valueSquares, plain.valueSquares * 1e-12) << n;
}

TEST_P(LossKernels, IsThatOfTheValuesOneByOne) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t n : {0, 1, 3, 4, 5, 255, 256, 257, 1000}) {
    std::vector<float> values(n), quantized(n);
    Loss loss, twice;
    PlainLoss plain;
    for (int piece = 0; piece < 3; ++piece) {
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = std::ldexp(normal(random), static_cast<int>(random() % 160) - 80);
        quantized[i] = values[i] * (1 + normal(random) / 8);
        if (i % 17 == 16)
          values[i] = 0;
        plain.add(values[i], quantized[i]);
      }
      Loss other, portable;
      other.add(values.data(), quantized.data(), n, execution());
      portable.add(values.data(), quantized.data(), n, {.isa = Isa::Portable});
      EXPECT_EQ(other.errorSquares(), portable.errorSquares());
      EXPECT_EQ(other.valueSquares(), portable.valueSquares());
      twice.add(other);
      loss.add(values.data(), quantized.data(), n, execution());
    }
    expectLike(loss, plain, n);
    expectLike(twice, plain, n);
  }
}

TEST_P(LossKernels, OfNaNThereIsNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {nan, 1, infinity, 8, 2};
  const float quantized[] = {0, nan, infinity, 6, 2};
  Loss loss;
  loss.add(values, quantized, 5, execution());
  EXPECT_EQ(loss.largest(), 2);
  EXPECT_EQ(loss.largestRelative(), 0.25);
  EXPECT_EQ(loss.errorSquares(), 4);
  EXPECT_EQ(loss.valueSquares(), 64 + 4);
}

TEST_P(LossKernels, AnInfinityThatIsLimitedLosesAllThereIs) {
  const float value = -std::numeric_limits<float>::infinity(), quantized = -448;
  Loss loss;
  loss.add(&value, &quantized, 1, execution());
  EXPECT_EQ(loss.largest(), std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace octavo::kernels
