// Steps worked by hand (F1 to F5 of docs/semantics.md).

#include "octavo/Numerics/DelayedScaling.h"
#include "octavo/Numerics/TestConstants.h"

#include <cmath>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace octavo::numerics {
namespace {

using format::element;

struct Step {
  TrainingScale scale;
  std::vector<float> history;
};
Step step(const DelayedScaling& recipe, std::vector<float> history, float scale,
          const ElementFormat& format = kE4m3) {
  const TrainingScale found = updateDelayedScale(format, recipe, history, scale);
  return {found, history};
}

TEST(DelayedScalingTest, MaxOfTheHistoryBeforeItRolls) {
  const Step found = step({}, {3.5f, 7, 14, 1}, 5);
  EXPECT_EQ(found.scale, (TrainingScale{32, 0.03125f})); // 448 / 14
  EXPECT_EQ(found.history, (std::vector<float>{0, 14, 1, 3.5f}));
}

TEST(DelayedScalingTest, TheOldestSlotCountsOnceMoreThenLeaves) {
  Step found = step({}, {1, 14, 2}, 5);
  EXPECT_EQ(found.scale.scale, 32); // 14 still counts
  EXPECT_EQ(found.history, (std::vector<float>{0, 2, 1}));
  found.history[0] = 1;
  EXPECT_EQ(step({}, found.history, 32).scale.scale, 224); // 448 / 2
}

TEST(DelayedScalingTest, MostRecent) {
  const Step found = step({.choice = AmaxChoice::MostRecent}, {3.5f, 7, 14}, 5);
  EXPECT_EQ(found.scale.scale, 128);
  EXPECT_EQ(found.history, (std::vector<float>{0, 14, 3.5f}));
}

TEST(DelayedScalingTest, Margin) {
  EXPECT_EQ(step({.margin = 3}, {14}, 1).scale.scale, 4);
  EXPECT_EQ(step({.margin = -1}, {14}, 1).scale.scale, 64);
  EXPECT_EQ(step({}, {14}, 1, kE5m2).scale.scale, 4096);
}

TEST(DelayedScalingTest, OneSlot) {
  const Step found = step({}, {7}, 1);
  EXPECT_EQ(found.scale.scale, 64);
  EXPECT_EQ(found.history, (std::vector<float>{0}));
}

TEST(DelayedScalingTest, AmaxesThatKeepTheOldScale) {
  for (float amax : {0.0f, -1.0f, kInf, kNan}) {
    const Step found = step({.choice = AmaxChoice::MostRecent}, {amax, 7}, 5);
    EXPECT_EQ(found.scale, (TrainingScale{5, 0.2f})) << amax;
    EXPECT_EQ(found.history[0], 0) << amax; // it rolls all the same
  }
  EXPECT_EQ(step({}, {0, 0, 0}, 5).scale.scale, 5);
}

TEST(DelayedScalingTest, NanDoesNotCountAndInfPinsTheScaleUntilItLeaves) {
  EXPECT_EQ(step({}, {kNan, 7, kNan}, 5).scale.scale, 64);
  EXPECT_EQ(step({}, {kNan, kNan}, 5).scale.scale, 5);
  std::vector<float> history{kInf, 7, 7};
  for (int left = 3; left > 0; --left) {
    EXPECT_EQ(updateDelayedScale(kE4m3, {}, history, 5).scale, 5) << left;
    history[0] = 7;
  }
  EXPECT_EQ(updateDelayedScale(kE4m3, {}, history, 5).scale, 64);
}

TEST(DelayedScalingTest, AScaleBeyondF32IsItsLargest) {
  EXPECT_EQ(step({}, {0x1p-140f}, 5).scale.scale, kMax);
}

TEST(DelayedScalingTest, AnUnusedTensorMayKeepItsHistory) {
  const Step kept = step({.zeroAmax = ZeroAmax::Keep}, {0, 7, 14}, 5);
  EXPECT_EQ(kept.scale.scale, 5);
  EXPECT_EQ(kept.history, (std::vector<float>{0, 7, 14}));
  const Step rolled = step({}, {0, 7, 14}, 5);
  EXPECT_EQ(rolled.scale.scale, 32);
  EXPECT_EQ(rolled.history, (std::vector<float>{0, 14, 0}));
}

TEST(DelayedScalingTest, TheSealOfAState) {
  const std::vector<float> scale = {8, 32, 1}, history = {0, 1, 2, 0, 3, 4, 0, 5, 6};
  const std::vector<float> amax = {2, 4, 6};
  const float seal = stateSeal({scale, history, amax});
  EXPECT_GE(seal, 1);
  EXPECT_LT(seal, 2);
  // It is of all numbers, and of their places.
  for (const std::vector<float>& other :
       {std::vector<float>{8, 32, 1.0000001f}, {32, 8, 1}, {8, 32, -1}})
    EXPECT_NE(stateSeal({other, history, amax}), seal);
  EXPECT_NE(stateSeal({scale, history, scale}), seal);
  // What XLA flushes, and NaN of any kind, are alike.
  const auto of = [](float number) { return stateSeal({std::array{number}}); };
  EXPECT_EQ(of(0), of(0x1p-127f));
  EXPECT_EQ(of(0), of(-0.0f));
  EXPECT_EQ(of(kNan), of(-kNan));
  EXPECT_NE(of(kNan), of(kInf));
}

TEST(CurrentScalingTest, Scales) {
  EXPECT_EQ(currentScale(kE4m3, 14), (TrainingScale{32, 0.03125f}));
  EXPECT_EQ(currentScale(kE4m3, 3).scale, 448.0f / 3.0f);
  EXPECT_EQ(currentScale(kE4m3, 3, 0, CurrentScales::PowersOfTwo).scale, 128);
  EXPECT_EQ(currentScale(kE4m3, 3.5f, 0, CurrentScales::PowersOfTwo).scale, 128);
  EXPECT_EQ(currentScale(kE5m2, 7).scale, 8192);
}

TEST(CurrentScalingTest, Corners) {
  for (float amax : {0.0f, kInf, kNan})
    EXPECT_EQ(currentScale(kE4m3, amax), (TrainingScale{1, 1})) << amax;
  EXPECT_EQ(currentScale(kE4m3, 0x1p-149f).scale, kMax);
  EXPECT_EQ(currentScale(kE4m3, 0x1p-149f, 0, CurrentScales::PowersOfTwo).scale, 0x1p127f);
  EXPECT_EQ(currentScale(kE4m3, 1, 14).scale, 32);
  EXPECT_EQ(currentScale(kE4m3, 0, 14).scale, 32);
  EXPECT_EQ(currentScale(kE4m3, kNan, 14).scale, 1);
}

} // namespace
} // namespace octavo::numerics
