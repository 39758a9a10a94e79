#include "octavo/Analysis/QuantizationError.h"

#include "octavo/Analysis/Distribution.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace octavo::analysis {
namespace {

using Shape = std::vector<std::int64_t>;

Recipe recipe(std::string_view format, std::string_view name = "floor") {
  const format::ScaledFormat* row = format::findScaledFormat(format);
  for (const Recipe& each : recipes(*row))
    if ((each.preset.empty() ? each.ruleName() : each.preset) == name)
      return each;
  ADD_FAILURE() << format << " has no rule or preset " << name;
  return {};
}

ErrorFigures figures(const std::vector<float>& values, const Shape& shape, const Recipe& recipe) {
  return measure(values, shape, recipe).figures;
}

/// A block of 32 with these values first, then zeros.
std::vector<float> block(std::vector<float> values) {
  values.resize(32);
  return values;
}

TEST(QuantizationError, byHand) {
  // mxfp4, floor: amax 4 has scale 1. 4 stays, 2.5 and -1.25 (ties) become 2 and -1, 0.5 stays.
  const ErrorFigures found = figures(block({4, 2.5, -1.25, 0.5}), {1, 32}, recipe("mxfp4"));
  EXPECT_DOUBLE_EQ(found.meanRelativeError, (0.5 / 2.5 + 0.25 / 1.25) / 4);
  EXPECT_DOUBLE_EQ(found.qsnr, 10 * std::log10((16 + 6.25 + 1.5625 + 0.25) / (0.25 + 0.0625)));
  EXPECT_EQ(found.zeros, 28);
  EXPECT_EQ(found.lost, 0);
  EXPECT_EQ(found.clippedBlocks, 0);
}

TEST(QuantizationError, clippedBlocks) {
  // mxfp4 under floor: amax 6 is the largest element; 6.25 and 7.75 are beyond it, the latter under
  // a scale of 2^-10. 3.9 has scale 2^-1 and is beyond 6 there. 3 is not.
  std::vector<float> values;
  for (float amax : {6.0f, 6.25f, -7.75f / 1024, 3.9f, 3.0f}) {
    const std::vector<float> each = block({amax, amax});
    values.insert(values.end(), each.begin(), each.end());
  }
  EXPECT_EQ(figures(values, {5, 32}, recipe("mxfp4")).clippedBlocks, 0.6);
  EXPECT_EQ(figures(values, {1, 160}, recipe("mxfp4")).clippedBlocks, 0.6);
  EXPECT_EQ(figures(values, {5, 32}, recipe("mxfp4", "ceil")).clippedBlocks, 0);
}

TEST(QuantizationError, roundedF32ScalesDoNotClip) {
  const std::vector<float> values = samples(Normal{}, std::size_t{1} << 16, 42);
  for (const char* format : {"fp8_tensor", "fp8_row", "fp8_block", "fp8_group"})
    EXPECT_EQ(figures(values, {256, 256}, recipe(format, "nearest")).clippedBlocks, 0) << format;
}

TEST(QuantizationError, exactValuesHaveNoError) {
  const ErrorFigures found = figures(block({4, -2, 0.5}), {1, 32}, recipe("mxfp4"));
  EXPECT_EQ(found.meanRelativeError, 0);
  EXPECT_EQ(found.qsnr, std::numeric_limits<double>::infinity());
}

TEST(QuantizationError, nothingButZeros) {
  for (const std::vector<float>& values : {std::vector<float>(64), std::vector<float>()}) {
    const ErrorFigures found =
        figures(values, {static_cast<std::int64_t>(values.size())}, recipe("mxfp4"));
    EXPECT_TRUE(std::isnan(found.meanRelativeError));
    EXPECT_TRUE(std::isnan(found.qsnr));
    EXPECT_EQ(found.clippedBlocks, 0);
    EXPECT_EQ(found.zeros, static_cast<std::int64_t>(values.size()));
  }
}

TEST(QuantizationError, overflowsAreCountedNotSummed) {
  // e4m3fn, scale 1: 480 overflows to NaN if it does not saturate; 250 becomes 256.
  Recipe special = recipe("mxfp8_e4m3");
  special.options.overflow = numerics::Overflow::Special;
  const ErrorFigures found = figures(block({480, 250}), {32}, special);
  EXPECT_EQ(found.lost, 1);
  EXPECT_DOUBLE_EQ(found.meanRelativeError, 6.0 / 250);
  EXPECT_DOUBLE_EQ(found.qsnr, 20 * std::log10(250.0 / 6));
}

TEST(QuantizationError, presets) {
  // XLA's scale of a block of zeros is NaN, and so is every value.
  std::vector<float> values(64);
  values[0] = 448, values[1] = 1;
  const ErrorFigures xla = figures(values, {64}, recipe("mxfp8_e4m3", "xla"));
  EXPECT_EQ(xla.zeros, 62);
  EXPECT_EQ(xla.lost, 32);
  EXPECT_EQ(xla.meanRelativeError, 0);
  // Ties away from zero in microxcaling: 2.5 becomes 3, -1.25 becomes -1.5.
  EXPECT_DOUBLE_EQ(
      figures(block({4, 2.5, -1.25}), {32}, recipe("mxfp4", "microxcaling")).meanRelativeError,
      (0.5 / 2.5 + 0.25 / 1.25) / 3);
}

TEST(QuantizationError, sizes) {
  const std::vector<float> values(256 * 256, 1.0f);
  const auto row = [&](const char* format) {
    return measure(values, Shape{256, 256}, recipes(*format::findScaledFormat(format)).front());
  };
  // The RFC: 33, 25 and 17 bytes a block.
  EXPECT_EQ(row("mxfp8_e4m3").bytesPerBlock, 33);
  EXPECT_EQ(row("mxfp6_e2m3").bytesPerBlock, 25);
  EXPECT_EQ(row("mxfp4").bytesPerBlock, 17);
  EXPECT_EQ(row("nvfp4").bytesPerBlock, 9);
  EXPECT_EQ(row("fp8_block").bytesPerBlock, 128 * 128 + 4);
  EXPECT_EQ(row("fp8_row").bytesPerBlock, std::nullopt);
  EXPECT_EQ(row("mxfp4").bitsPerValue, 4.25);
  EXPECT_EQ(row("fp8_row").bitsPerValue, 8 + 32.0 / 256);
}

/// Compares every format, rule and preset with the scalar specification, computed value by value.
TEST(QuantizationError, isThatOfNumerics) {
  const Shape shape = {3, 130, 77}; // short blocks on both axes
  const std::vector<float> values = samples(StudentT{3}, 3 * 130 * 77, 5);
  for (const format::ScaledFormat& format : format::kScaledFormats)
    for (const Recipe& each : recipes(format)) {
      const numerics::ScaledType type{.element = format.element,
                                      .scale = format.scale,
                                      .block = format::blockShape(format, shape, 2),
                                      .hasOuterScale = format.hasOuterScale};
      const std::vector<float> after =
          numerics::dequantize(numerics::quantize(values, shape, type, each.options).tensor);
      ASSERT_EQ(after.size(), values.size());
      double relative = 0, squares = 0, errors = 0;
      std::int64_t lost = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(after[i])) {
          ++lost;
          continue;
        }
        const double error = static_cast<double>(after[i]) - values[i];
        relative += std::abs(error / values[i]);
        squares += static_cast<double>(values[i]) * values[i];
        errors += error * error;
      }
      const ErrorFigures found = figures(values, shape, each);
      EXPECT_EQ(found.lost, lost) << format.name << " " << each.preset;
      EXPECT_NEAR(found.meanRelativeError, relative / static_cast<double>(values.size() - lost),
                  1e-12)
          << format.name << " " << each.ruleName() << " " << each.preset;
      EXPECT_NEAR(found.qsnr, 10 * std::log10(squares / errors), 1e-9)
          << format.name << " " << each.ruleName() << " " << each.preset;
    }
}

TEST(QuantizationError, rowsOfSeveralFormats) {
  const Shape shape = {16, 512};
  std::vector<float> values = samples(StudentT{2}, 16 * 512, 5);
  std::fill_n(values.begin(), 64, 0.0f); // blocks on which presets differ
  std::vector<const format::ScaledFormat*> formats;
  std::vector<Recipe> each;
  for (const format::ScaledFormat& format : format::kScaledFormats) {
    formats.push_back(&format);
    std::ranges::copy(recipes(format), std::back_inserter(each));
  }
  const std::vector<ErrorRow> rows = measure(values, shape, formats);
  ASSERT_EQ(rows.size(), each.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].recipe.format, each[i].format);
    EXPECT_EQ(rows[i].recipe.preset, each[i].preset);
    EXPECT_EQ(rows[i].recipe.options, each[i].options);
    EXPECT_EQ(rows[i].figures, figures(values, shape, each[i])) << each[i].preset;
  }
}

/// Presets choose scales that differ from the rules only in corners: a preset that loses a decibel
/// more than the rules is wrong. Except torch's cast: it rounds amax / max to the nearest power of
/// two, which clips up to a third of a block's largest value.
TEST(QuantizationError, presetsAreAsGoodAsTheRules) {
  const Shape shape = {256, 256};
  const std::vector<float> values = samples(Normal{}, 256 * 256, 5);
  for (const format::ScaledFormat& format : format::kScaledFormats) {
    double worst = std::numeric_limits<double>::infinity();
    for (const Recipe& each : recipes(format)) {
      const double qsnr = figures(values, shape, each).qsnr;
      if (each.preset.empty())
        worst = std::min(worst, qsnr);
      else
        EXPECT_GT(qsnr, worst - (each.preset == "torch" ? 12 : 1))
            << format.name << " " << each.preset;
    }
  }
}

TEST(QuantizationError, threadsChangeNoBit) {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 7);
  const std::vector<float> values = samples(Normal{}, 300 * 4096, 5);
  for (const char* format : {"mxfp4", "nvfp4", "fp8_block"}) {
    const Recipe each = recipes(*format::findScaledFormat(format)).front();
    const ErrorFigures one = measure(values, Shape{300, 4096}, each, {.threads = 1}).figures;
    for (int threads : {2, 3, 7})
      EXPECT_EQ(one, measure(values, Shape{300, 4096}, each, {.threads = threads}).figures);
  }
}

/// Mean relative errors in percent and QSNR in dB that an independent program found (block 32, 2^22
/// samples of SplitMix64 with seed 42, its own arithmetic).
TEST(QuantizationError, isAsComputedElsewhere) {
  struct Expected {
    std::string_view format, rule;
    double uniformError, uniformQsnr, normalError, normalQsnr;
  };
  const Expected table[] = {
      {"mxfp8_e5m2", "floor", 4.72, 24.3, 4.51, 25.4},
      {"mxfp8_e5m2", "even", 4.32, 26.5, 4.49, 25.5},
      {"mxfp8_e5m2", "round-up", 4.32, 26.5, 4.49, 25.5},
      {"mxfp8_e4m3", "floor", 2.77, 26.2, 2.29, 30.6},
      {"mxfp8_e4m3", "even", 2.28, 30.8, 2.27, 31.2},
      {"mxfp8_e4m3", "round-up", 2.17, 32.5, 2.25, 31.5},
      {"mxfp6_e3m2", "floor", 4.89, 24.3, 4.99, 25.4},
      {"mxfp6_e3m2", "even", 4.64, 26.5, 4.99, 25.5},
      {"mxfp6_e3m2", "round-up", 4.66, 26.5, 5.02, 25.5},
      {"mxfp6_e2m3", "floor", 3.88, 31.3, 6.78, 30.9},
      {"mxfp6_e2m3", "even", 4.79, 32.3, 6.91, 31.0},
      {"mxfp6_e2m3", "round-up", 5.17, 32.2, 7.03, 31.0},
      {"mxfp4", "floor", 14.6, 16.8, 21.0, 18.8},
      {"mxfp4", "even", 17.2, 20.1, 22.1, 19.0},
      {"mxfp4", "round-up", 17.3, 20.1, 23.4, 18.8},
      {"mxint8", "floor", 1.49, 48.1, 3.51, 41.7},
      {"mxint8", "even", 1.63, 46.9, 3.52, 41.6},
      {"mxint8", "round-up", 1.75, 46.0, 3.54, 41.6},
      {"nvfp4", "nearest", 14.1, 19.9, 17.9, 20.4},
  };
  const Shape shape = {1024, 4096};
  const std::vector<float> uniform = samples(Uniform{-1, 1}, 1024 * 4096, 42);
  const std::vector<float> normal = samples(Normal{}, 1024 * 4096, 42);
  // The last digit, and the sampling error of other samples: the standard deviation of an error is
  // at most 1.5 times its mean, so that of the mean is below 0.1 percent of it.
  const auto tolerance = [](double error) { return (error > 10 ? 0.05 : 0.005) + 0.004 * error; };
  for (const Expected& row : table) {
    const Recipe each = recipe(row.format, row.rule);
    const ErrorFigures onUniform = figures(uniform, shape, each);
    EXPECT_NEAR(100 * onUniform.meanRelativeError, row.uniformError, tolerance(row.uniformError))
        << row.format << " " << row.rule;
    EXPECT_NEAR(onUniform.qsnr, row.uniformQsnr, 0.06) << row.format << " " << row.rule;
    const ErrorFigures onNormal = figures(normal, shape, each);
    EXPECT_NEAR(100 * onNormal.meanRelativeError, row.normalError, tolerance(row.normalError))
        << row.format << " " << row.rule;
    EXPECT_NEAR(onNormal.qsnr, row.normalQsnr, 0.06) << row.format << " " << row.rule;
  }
  EXPECT_NEAR(figures(normal, shape, recipe("mxfp8_e4m3")).clippedBlocks, 0.168, 0.003);
  EXPECT_NEAR(figures(normal, shape, recipe("mxfp4")).clippedBlocks, 0.295, 0.003);
  EXPECT_NEAR(figures(normal, shape, recipe("mxfp6_e2m3")).clippedBlocks, 0.095, 0.002);
}

} // namespace
} // namespace octavo::analysis
