#include "octavo/Analysis/Magnitudes.h"

#include "octavo/Analysis/RangeChoice.h"
#include "octavo/Numerics/Conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace octavo::analysis {
namespace {

using Values = std::vector<float>;

Magnitudes magnitudesOf(const Values& values) {
  Magnitudes magnitudes;
  EXPECT_FALSE(magnitudes.add(values));
  return magnitudes;
}

Values normalValues(std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Values values(n);
  for (float& value : values)
    value = normal(random);
  return values;
}

TEST(MagnitudesTest, BinsAreTheLeadingBits) {
  // 1 has exponent 127 and no further bits: bin 127 * 64. 1 + 1/64 begins the next bin.
  const Magnitudes found = magnitudesOf({1, -1, 1.0156f, -1.015625f, 0, 1e-40f});
  EXPECT_EQ(found.count(), 6U);
  EXPECT_EQ(found.amax(), 1.015625f);
  EXPECT_EQ(found.bins()[127 * 64], 3U);
  EXPECT_EQ(found.bins()[127 * 64 + 1], 1U);
  EXPECT_EQ(found.bins()[0], 2U); // zero and 1e-40 < 2^-132
}

TEST(MagnitudesTest, PartsAddUpToTheWhole) {
  const Values values = normalValues(300'000, 1);
  Magnitudes parts;
  for (std::size_t begin : {200'000U, 0U, 70'001U}) { // in any order
    const std::size_t end = begin == 0 ? 70'001 : begin == 70'001 ? 200'000 : 300'000;
    Magnitudes part;
    part.add(std::span(values).subspan(begin, end - begin));
    parts.merge(part);
  }
  EXPECT_EQ(parts, magnitudesOf(values));
  parts.merge({});
  EXPECT_EQ(parts, magnitudesOf(values));
}

TEST(MagnitudesTest, ValuesThatAreNotFiniteAreRefused) {
  Magnitudes found = magnitudesOf({1, 2});
  const Magnitudes before = found;
  EXPECT_EQ(found.add(Values{3, std::numeric_limits<float>::quiet_NaN(), 4}), 1U);
  EXPECT_EQ(found.add(Values{3, 4, -std::numeric_limits<float>::infinity()}), 2U);
  EXPECT_EQ(found, before);
  EXPECT_FALSE(found.add({}));
  EXPECT_EQ(found, before);
}

/// Compared with the sorted values: at least the nearest-rank percentile, less than 1/64 more.
TEST(MagnitudesTest, PercentilesAreThoseOfTheSortedValues) {
  Values values = normalValues(10'000, 2);
  const Magnitudes found = magnitudesOf(values);
  std::ranges::transform(values, values.begin(), [](float value) { return std::fabs(value); });
  std::ranges::sort(values);
  for (const auto& [percent, rank] : {std::pair(50.0, 5000),
                                      {99.0, 9900},
                                      {99.9, 9990},
                                      {99.99, 9999},
                                      {100.0, 10'000},
                                      {0.001, 1}}) {
    const float exact = values[static_cast<std::size_t>(rank - 1)];
    EXPECT_GE(found.percentile(percent), exact) << percent;
    EXPECT_LT(found.percentile(percent), exact * (1 + 1.0f / 64)) << percent;
  }
  EXPECT_EQ(found.percentile(100), found.amax());
  EXPECT_EQ(Magnitudes().percentile(50), 0);
}

TEST(MagnitudesTest, ZerosChangeNoRange) {
  Values values = normalValues(1000, 4);
  const Magnitudes alone = magnitudesOf(values);
  values.resize(100'000); // as rows of padding do
  const Magnitudes padded = magnitudesOf(values);
  for (const double percent : {50.0, 99.0, 99.9, 100.0})
    EXPECT_EQ(padded.percentile(percent), alone.percentile(percent)) << percent;
  const format::ElementFormat& element = format::element("e2m1fn");
  EXPECT_EQ(padded.leastSquaresRange(element), alone.leastSquaresRange(element));
  EXPECT_EQ(magnitudesOf({0, 0, 0, 5}).percentile(50), 5);
  EXPECT_EQ(magnitudesOf({0, 0}).percentile(99), 0);
  EXPECT_EQ(magnitudesOf({0, 1e-44f}).percentile(50), 1e-44f);
}

/// The sum of squared errors of a scalar quantization of the values themselves.
double squares(const Values& values, const format::ElementFormat& element, float range) {
  const double scale = static_cast<double>(range) / numerics::maxValue(element);
  double sum = 0;
  for (const float value : values) {
    const double rounded =
        scale * numerics::round(element, value / scale, {.overflow = numerics::Overflow::Saturate});
    sum += (rounded - value) * (rounded - value);
  }
  return sum;
}

TEST(MagnitudesTest, TheLeastSquaresRangeCutsAnOutlierOff) {
  // In e2m1 with its 8 magnitudes one outlier of 100 would cost the other values all their bits.
  Values values = normalValues(4096, 3);
  values[17] = 20;
  const format::ElementFormat& element = format::element("e2m1fn");
  const Magnitudes found = magnitudesOf(values);
  const float range = found.leastSquaresRange(element);
  EXPECT_LT(range, 8);
  EXPECT_LT(squares(values, element, range), 0.5 * squares(values, element, 20));
  // No other range does much better on the values themselves, which the histogram only
  // approximates.
  double best = squares(values, element, 20);
  for (float other = 0.5f; other < 20; other *= 1.01f)
    best = std::min(best, squares(values, element, other));
  EXPECT_LT(squares(values, element, range), 1.02 * best);
}

TEST(MagnitudesTest, TheLeastSquaresRangeLosesNoMoreThanAmax) {
  // Checked on the values themselves: normal, with outliers, few, on a grid that amax keeps
  // exactly, with a heavy tail.
  std::mt19937 random(46);
  int lower = 0;
  for (const char* name : {"e4m3fn", "e5m2", "e2m1fn", "e3m2fn", "int8"})
    for (unsigned seed = 0; seed < 24; ++seed) {
      const format::ElementFormat* element = format::findElementFormat(name);
      if (element == nullptr)
        continue;
      Values values = normalValues(seed % 3 == 0 ? 37 : 2048, seed);
      if (seed % 4 == 1)
        values[3] = 30 + static_cast<float>(seed);
      if (seed % 4 == 2)
        for (float& value : values)
          value = std::ldexp(std::round(std::ldexp(value, 2)), -2);
      if (seed % 4 == 3)
        for (float& value : values)
          value = std::pow(value, 5.0f);
      const Magnitudes found = magnitudesOf(values);
      const float range = found.leastSquaresRange(*element);
      const double least = squares(values, *element, range),
                   ofAmax = squares(values, *element, found.amax());
      EXPECT_LE(least, ofAmax * (1 + 1e-9)) << name << " " << seed;
      lower += least < ofAmax;
    }
  EXPECT_GT(lower, 20) << "it is no other name for amax";
}

TEST(MagnitudesTest, LeastSquaresOfFewValues) {
  const format::ElementFormat& element = format::element("e4m3fn");
  EXPECT_EQ(Magnitudes().leastSquaresRange(element), 0);
  EXPECT_EQ(magnitudesOf({0, 0}).leastSquaresRange(element), 0);
  EXPECT_EQ(magnitudesOf({1e-44f}).leastSquaresRange(element), 1e-44f);
  EXPECT_EQ(magnitudesOf({448}).leastSquaresRange(element), 448); // nothing is lost
}

TEST(MagnitudesTest, FiguresThatCannotBeAreRefused) {
  using Bins = std::vector<std::uint64_t>;
  EXPECT_EQ(Magnitudes::of(1, 127 * 64, Bins{3})->count(), 3U);
  EXPECT_EQ(Magnitudes::of(0, 0, Bins{}), Magnitudes());
  EXPECT_FALSE(Magnitudes::of(2, 127 * 64, Bins{3})); // 2 is in another bin
  EXPECT_FALSE(Magnitudes::of(1, 0, Bins{}));
  EXPECT_FALSE(Magnitudes::of(0, Magnitudes::kBins, Bins{1}));
  EXPECT_FALSE(Magnitudes::of(0, Magnitudes::kBins + 1, Bins{}));
  EXPECT_FALSE(
      Magnitudes::of(1, 127 * 64 - 1, Bins{std::uint64_t{1} << 62, std::uint64_t{1} << 62}));
  EXPECT_EQ(Magnitudes::of(1, 127 * 64, Bins{3, 0, 0})->amax(), 1);
}

TEST(RangeChoiceTest, Spellings) {
  using Kind = RangeChoice::Kind;
  EXPECT_EQ(findRangeChoice("amax"), (RangeChoice{.kind = Kind::Amax}));
  EXPECT_EQ(findRangeChoice("mse")->kind, Kind::LeastSquares);
  EXPECT_EQ(findRangeChoice("percentile:99.9"),
            (RangeChoice{.kind = Kind::Percentile, .percent = 99.9}));
  EXPECT_EQ(findRangeChoice("percentile:100")->percent, 100);
  for (const char* wrong : {"", "max", "percentile", "percentile:", "percentile:0", "percentile:-1",
                            "percentile:101", "percentile:9x", "percentile:nan", "percentile: 99"})
    EXPECT_FALSE(findRangeChoice(wrong)) << wrong;
}

} // namespace
} // namespace octavo::analysis
