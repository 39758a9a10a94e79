#include "octavo/Kernels/Comparison.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace octavo::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One pair after the other, by the definition.
struct PlainComparison {
  std::uint64_t differing = 0, notFinite = 0;
  double largest = 0, ratio = 0, amax = 0, errors = 0, squares = 0;
  void add(float value, float other) {
    const double size = std::fabs(double{value});
    if (std::isfinite(value)) {
      amax = std::max(amax, size);
      squares += size * size;
    }
    if (value == other || (std::isnan(value) && std::isnan(other)))
      return;
    ++differing;
    const bool areFinite = std::isfinite(value) && std::isfinite(other);
    notFinite += !areFinite;
    const double error = areFinite ? std::fabs(double{value} - double{other}) : kInfinity;
    largest = std::max(largest, error);
    if (size > 0 || !areFinite)
      ratio = std::max(ratio, areFinite ? error / size : kInfinity);
    errors += error * error;
  }
};

void expectLike(const Comparison& comparison, const PlainComparison& plain) {
  EXPECT_EQ(comparison.differing(), plain.differing);
  EXPECT_EQ(comparison.notFinite(), plain.notFinite);
  EXPECT_EQ(comparison.largestError(), plain.largest);
  EXPECT_EQ(comparison.amax(), plain.amax);
  EXPECT_DOUBLE_EQ(comparison.largestRatio(), plain.ratio);
  EXPECT_NEAR(comparison.valueSquares(), plain.squares, plain.squares * 1e-12);
  if (std::isinf(plain.errors))
    EXPECT_EQ(comparison.errorSquares(), plain.errors);
  else
    EXPECT_NEAR(comparison.errorSquares(), plain.errors, plain.errors * 1e-12);
}

class ComparisonKernels : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(ComparisonKernels);

TEST_P(ComparisonKernels, IsThatOfThePairsOneByOne) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t n : {0, 1, 3, 4, 5, 255, 256, 257, 1000}) {
    std::vector<float> values(n), others(n);
    Comparison whole, pieces, portable;
    PlainComparison plain;
    for (int piece = 0; piece < 3; ++piece) {
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = std::ldexp(normal(random), static_cast<int>(random() % 160) - 80);
        others[i] = i % 3 == 0 ? values[i] : values[i] * (1 + normal(random) / 8);
        if (i % 17 == 16)
          values[i] = 0;
        plain.add(values[i], others[i]);
      }
      Comparison one;
      one.add(values.data(), others.data(), n, execution());
      pieces.add(one);
      whole.add(values.data(), others.data(), n, execution());
      portable.add(values.data(), others.data(), n, {.isa = Isa::Portable});
    }
    expectLike(whole, plain);
    expectLike(pieces, plain);
    EXPECT_EQ(whole.errorSquares(), portable.errorSquares());
    EXPECT_EQ(whole.valueSquares(), portable.valueSquares());
    EXPECT_EQ(whole.largestRatio(), portable.largestRatio());
  }
}

TEST_P(ComparisonKernels, PairsThatAreNotFinite) {
  const std::vector<std::pair<float, float>> kPairs = {
      {kNan, kNan}, {kInfinity, kInfinity}, {0.0f, -0.0f},      {1, kNan},
      {kNan, 2},    {kInfinity, 448},       {-448, -kInfinity}, {kInfinity, -kInfinity},
      {0.0f, 3},    {0.0f, kInfinity},      {0x1p-149f, 0}};
  for (const auto& [value, other] : kPairs)
    for (const std::size_t place : {0, 5, 257}) {
      std::vector<float> values(300, 2), others(300, 2.5f);
      values[place] = value;
      others[place] = other;
      PlainComparison plain;
      for (std::size_t i = 0; i < values.size(); ++i)
        plain.add(values[i], others[i]);
      Comparison comparison;
      comparison.add(values.data(), others.data(), values.size(), execution());
      SCOPED_TRACE(testing::Message() << value << " and " << other << " at " << place);
      expectLike(comparison, plain);
    }
}

} // namespace
} // namespace octavo::kernels
