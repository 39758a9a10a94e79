#include "octavo/Analysis/PublishedErrors.h"

#include <gtest/gtest.h>

namespace octavo::analysis {
namespace {

TEST(PublishedErrors, aFigureStandsForWhatRoundsToIt) {
  const PublishedError figure{"mxfp4", 16, 1};
  EXPECT_FALSE(figure.isGivenBy(15.49));
  EXPECT_TRUE(figure.isGivenBy(15.5));
  EXPECT_TRUE(figure.isGivenBy(16.49));
  EXPECT_FALSE(figure.isGivenBy(16.5));
}

/// A scan that reproduces no figure until a test sets one.
RangeScan emptyScan() {
  RangeScan scan{.rule = format::ScaleRule::Floor, .percent = {}};
  for (auto& errors : scan.percent)
    errors.fill(100);
  return scan;
}

TEST(PublishedErrors, neighbouringBoundsAreOneRange) {
  RangeScan scan = emptyScan();
  for (std::size_t i : {0, 7, 8, 9, 99})
    scan.percent[0][i] = kRfcErrors[0].percent;
  const std::vector<BoundRange> found = scan.boundsThatGive(0);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].last, 1.0);
  EXPECT_EQ(found[1].first, 1.07);
  EXPECT_EQ(found[1].last, 1.09);
  EXPECT_EQ(found[2].first, 1.99);
  EXPECT_TRUE(scan.boundsThatGive(1).empty());
}

TEST(PublishedErrors, theBestBoundGivesMostAndMissesLeast) {
  RangeScan scan = emptyScan();
  scan.percent[0][5] = kRfcErrors[0].percent;
  EXPECT_EQ(scan.bestBound(), 5u);
  for (std::size_t figure : {1, 2})
    for (std::size_t i : {20, 30})
      scan.percent[figure][i] = kRfcErrors[figure].percent;
  for (std::size_t figure : {0, 3, 4}) // nearer than 100
    scan.percent[figure][20] = 50;
  EXPECT_EQ(scan.bestBound(), 20u);
  EXPECT_EQ(scan.figuresGivenAt(20), 2u);
}

/// Mean relative errors on U(-a, a) that an independent program found: floor, ties to even,
/// saturating.
TEST(PublishedErrors, floorIsAsComputedElsewhere) {
  const RangeScan scan = scanRanges(format::ScaleRule::Floor);
  const double atOne[] = {4.72, 2.77, 4.89, 3.88, 14.56},
               atOneFifth[] = {4.68, 2.31, 4.97, 4.99, 15.8};
  for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure) {
    EXPECT_NEAR(scan.percent[figure][0], atOne[figure], 0.05) << kRfcErrors[figure].format;
    EXPECT_NEAR(scan.percent[figure][20], atOneFifth[figure], 0.05) << kRfcErrors[figure].format;
  }
  for (std::size_t i = 0; i < kBoundCount; ++i)
    EXPECT_LT(scan.figuresGivenAt(i), kRfcErrors.size()) << bound(i);
}

} // namespace
} // namespace octavo::analysis
