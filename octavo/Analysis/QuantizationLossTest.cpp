#include "octavo/Analysis/QuantizationLoss.h"

#include "octavo/Analysis/Distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace octavo::analysis {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

numerics::ScaledType typeOf(std::string_view name, const Shape& shape) {
  const format::ScaledFormat& format = *format::findScaledFormat(name);
  return {.element = format.element,
          .scale = format.scale,
          .block = format::blockShape(format, shape, static_cast<int>(shape.size()) - 1),
          .hasOuterScale = format.hasOuterScale};
}

numerics::QuantizeOptions optionsOf(std::string_view name) {
  return {.rule = format::findScaledFormat(name)->rule};
}

TEST(QuantizationLoss, byHand) {
  // mxfp4, floor: amax 7.5 has scale 2^(2 - 2) = 1. 7.5 exceeds 6 by more than half a step of 2;
  // 6.5 does not. 0.2 is nearer to 0 than to 0.5. 2.5 is a tie that goes to 2.
  const Shape shape = {1, 32};
  std::vector<float> values = {7.5, 6.5, 0.2F, 2.5, -7.5};
  values.resize(32);
  QuantizationLoss loss;
  loss.add(values, shape, typeOf("mxfp4", shape), optionsOf("mxfp4"));
  EXPECT_EQ(loss.saturated, 2);
  EXPECT_EQ(loss.sums.underflowed, 1);
  EXPECT_EQ(loss.sums.values, 32);
  EXPECT_EQ(loss.sums.nonFinite, 0);
  EXPECT_EQ(loss.sums.amax, 7.5);
  const double small = 0.2F;
  EXPECT_DOUBLE_EQ(loss.sums.squares, 2 * 7.5 * 7.5 + 6.5 * 6.5 + small * small + 2.5 * 2.5);
  EXPECT_DOUBLE_EQ(loss.sums.errors, 2 * 1.5 * 1.5 + 0.5 * 0.5 + small * small + 0.5 * 0.5);
  EXPECT_DOUBLE_EQ(*loss.sums.sqnr(), 10 * std::log10(loss.sums.squares / loss.sums.errors));

  // A second tensor adds to the first.
  loss.add(values, shape, typeOf("mxfp4", shape), optionsOf("mxfp4"));
  EXPECT_EQ(loss.saturated, 4);
  EXPECT_EQ(loss.sums.values, 64);
}

TEST(QuantizationLoss, nanIsCountedAndNoMore) {
  const Shape shape = {2, 32};
  std::vector<float> values(64, 1);
  values[3] = kNan;
  numerics::QuantizeOptions options = optionsOf("mxfp8_e4m3");
  options.nonFinite = numerics::NonFinite::Propagate;
  QuantizationLoss loss;
  loss.add(values, shape, typeOf("mxfp8_e4m3", shape), options);
  EXPECT_EQ(loss.sums.nonFinite, 32); // its block has become NaN
  EXPECT_EQ(loss.sums.squares, 32);
  EXPECT_EQ(loss.sums.amax, 1);
  EXPECT_TRUE(std::isinf(*loss.sums.sqnr()));

  QuantizationLoss refused;
  refused.add(values, shape, typeOf("mxfp8_e4m3", shape), optionsOf("mxfp8_e4m3"));
  EXPECT_EQ(refused.sums.nonFinite, 64);
  EXPECT_FALSE(refused.sums.sqnr());
}

TEST(QuantizationLoss, nothing) {
  EXPECT_FALSE(LossSums().sqnr());
  const Shape shape = {0, 32};
  QuantizationLoss loss;
  loss.add({}, shape, typeOf("mxfp8_e4m3", shape), optionsOf("mxfp8_e4m3"));
  EXPECT_EQ(loss.sums.values, 0);
}

/// The scalar definition gives the same counts in every format, for any number of threads.
TEST(QuantizationLoss, asTheScalarDefinition) {
  const Shape shape = {48, 300};
  const std::vector<float> values = samples(StudentT{5}, 48 * 300, 7);
  for (const format::ScaledFormat& format : format::kScaledFormats) {
    const numerics::ScaledType type = typeOf(format.name, shape);
    const numerics::QuantizeResult expected =
        numerics::quantize(values, shape, type, optionsOf(format.name));
    const std::vector<float> after = numerics::dequantize(expected.tensor);
    double squares = 0, errors = 0;
    std::int64_t underflowed = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += double{values[i]} * values[i];
      errors += std::pow(double{after[i]} - values[i], 2);
      underflowed += values[i] != 0 && after[i] == 0;
    }
    for (const int threads : {1, 3}) {
      QuantizationLoss loss;
      loss.add(values, shape, type, optionsOf(format.name), {.threads = threads});
      EXPECT_EQ(loss.saturated, expected.saturated) << format.name;
      EXPECT_EQ(loss.sums.underflowed, underflowed) << format.name;
      EXPECT_NEAR(loss.sums.squares, squares, 1e-9 * squares) << format.name;
      EXPECT_NEAR(loss.sums.errors, errors, 1e-9 * errors) << format.name;
    }
  }
}

} // namespace
} // namespace octavo::analysis
