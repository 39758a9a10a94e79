#include "octavo/Analysis/Distribution.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::analysis {
namespace {

constexpr std::size_t kMany = std::size_t{1} << 20;

/// The share of samples with |x| <= `limit`.
double shareWithin(const std::vector<float>& values, double limit) {
  const auto within = std::ranges::count_if(values, [&](float x) { return std::abs(x) <= limit; });
  return static_cast<double>(within) / static_cast<double>(values.size());
}

TEST(Distribution, spellings) {
  EXPECT_EQ(findDistribution("normal"), Distribution(Normal{}));
  EXPECT_EQ(findDistribution("uniform:-1,1.5"), Distribution(Uniform{-1, 1.5}));
  EXPECT_EQ(findDistribution("student-t:5"), Distribution(StudentT{5}));
  for (const char* wrong :
       {"", "norm", "normal:", "uniform", "uniform:", "uniform:1", "uniform:1,1", "uniform:2,1",
        "uniform:-1,1,2", "uniform:-1,1 ", "uniform:-1,inf", "uniform:nan,1", "uniform:0,1e39",
        "student-t", "student-t:0", "student-t:0.09", "student-t:-3", "student-t:3,4", "laplace:1"})
    EXPECT_FALSE(findDistribution(wrong)) << wrong;
}

TEST(Distribution, namesAreSpellings) {
  for (const Distribution& each :
       {Distribution(Normal{}), Distribution(Uniform{-0.1, 1e30}), Distribution(StudentT{2.5})})
    EXPECT_EQ(findDistribution(distributionName(each)), each);
}

TEST(Distribution, uniformIsSplitMix64) {
  // The first outputs of SplitMix64 from state 1234567, as its authors' reference code prints them:
  // 6457827717110365317, 3203168211198807973, 9817491932198370423.
  const std::vector<float> values = samples(Uniform{0, 1}, 3, 1234567);
  EXPECT_FLOAT_EQ(values[0], 6457827717110365317.0 / 0x1p64);
  EXPECT_FLOAT_EQ(values[1], 3203168211198807973.0 / 0x1p64);
  EXPECT_FLOAT_EQ(values[2], 9817491932198370423.0 / 0x1p64);
}

TEST(Distribution, uniformFillsItsRange) {
  const std::vector<float> values = samples(Uniform{-3, 5}, kMany, 42);
  const auto [low, high] = std::ranges::minmax(values);
  EXPECT_GE(low, -3);
  EXPECT_LT(low, -2.9999);
  EXPECT_LE(high, 5);
  EXPECT_GT(high, 4.9999);
  EXPECT_NEAR(shareWithin(values, 1), 2.0 / 8, 0.002);
}

// Two-sided quantiles from printed tables of the distributions. The standard deviation of a share
// of 2^20 samples is at most 0.0005.
TEST(Distribution, normalHasItsQuantiles) {
  const std::vector<float> values = samples(Normal{}, kMany, 42);
  EXPECT_NEAR(shareWithin(values, 0.6745), 0.50, 0.002);
  EXPECT_NEAR(shareWithin(values, 1.9600), 0.95, 0.001);
  EXPECT_NEAR(shareWithin(values, 2.5758), 0.99, 0.0005);
  EXPECT_NEAR(static_cast<double>(std::ranges::count_if(values, [](float x) { return x < 0; })),
              kMany / 2.0, 0.002 * kMany);
}

TEST(Distribution, studentHasItsQuantiles) {
  const std::vector<float> five = samples(StudentT{5}, kMany, 42);
  EXPECT_NEAR(shareWithin(five, 0.7267), 0.50, 0.002);
  EXPECT_NEAR(shareWithin(five, 2.5706), 0.95, 0.001);
  EXPECT_NEAR(shareWithin(five, 4.0321), 0.99, 0.0005);
  const std::vector<float> two = samples(StudentT{2}, kMany, 42);
  EXPECT_NEAR(shareWithin(two, 4.3027), 0.95, 0.001);
}

TEST(Distribution, tailsBeyondF32AreItsLargest) {
  // 1 sample in 7000 is beyond 3.4e38.
  const auto [low, high] = std::ranges::minmax(samples(StudentT{0.1}, 100000, 42));
  EXPECT_EQ(low, -std::numeric_limits<float>::max());
  EXPECT_EQ(high, std::numeric_limits<float>::max());
}

TEST(Distribution, threadsChangeNothing) {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 3);
  for (const Distribution& each :
       {Distribution(Uniform{-1, 1}), Distribution(Normal{}), Distribution(StudentT{5})}) {
    const std::vector<float> one = samples(each, 100001, 7, {.threads = 1});
    EXPECT_EQ(one, samples(each, 100001, 7, {.threads = 3}));
    EXPECT_NE(one, samples(each, 100001, 8, {.threads = 3}));
  }
}

} // namespace
} // namespace octavo::analysis
