#include "octavo/Numerics/Threefry.h"

#include <gtest/gtest.h>

namespace octavo::numerics {
namespace {

// Random123's kat_vectors, threefry2x32 20.
TEST(ThreefryTest, KnownAnswers) {
  EXPECT_EQ(threefry({0, 0}, {0, 0}), (ThreefryWords{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (ThreefryWords{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}),
            (ThreefryWords{0xc4923a9c, 0x483df7a0}));
}

} // namespace
} // namespace octavo::numerics
