#include "octavo/Base/NaturalOrder.h"

#include <gtest/gtest.h>

namespace octavo::base {

TEST(NaturalOrder, numbersCountAsNumbers) {
  EXPECT_TRUE(precedesNaturally("layers.2.mlp", "layers.10.mlp"));
  EXPECT_FALSE(precedesNaturally("layers.10.mlp", "layers.2.mlp"));
  EXPECT_TRUE(precedesNaturally("layers.10.a", "layers.10.b"));
  EXPECT_TRUE(precedesNaturally("l.99999999999999999999998", "l.99999999999999999999999"))
      << "longer than any integer type";
}

TEST(NaturalOrder, isStrict) {
  EXPECT_FALSE(precedesNaturally("a1", "a1"));
  EXPECT_FALSE(precedesNaturally("", ""));
  EXPECT_TRUE(precedesNaturally("", "a"));
  EXPECT_TRUE(precedesNaturally("a", "a1"));
  EXPECT_NE(precedesNaturally("a01", "a1"), precedesNaturally("a1", "a01"))
      << "names that differ stay apart";
}

} // namespace octavo::base
