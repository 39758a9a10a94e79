#include "tools/octavo/Progress.h"

#include <gtest/gtest.h>

namespace octavo::tools {
namespace {

TEST(Progress, text) {
  EXPECT_EQ(progressText("copying", 1'500'000'000, 6'000'000'000, 3),
            "copying [#####...............]  25%, 1.5 of 6.0 GB, 9 s left");
  EXPECT_EQ(progressText("copying", 0, 4'000'000, 3),
            "copying [....................]   0%, 0.0 of 4.0 MB");
  EXPECT_EQ(progressText("copying", 4'000'000, 4'000'000, 3),
            "copying [####################] 100%, 4.0 of 4.0 MB");
}

TEST(Progress, moreThanWasSaid) {
  EXPECT_EQ(progressText("copying", 5'000'000, 4'000'000, 3),
            "copying [####################] 100%, 5.0 of 4.0 MB");
  EXPECT_EQ(progressText("copying", 0, 0, 3), "copying [####################] 100%, 0.0 of 0.0 MB");
}

} // namespace
} // namespace octavo::tools
