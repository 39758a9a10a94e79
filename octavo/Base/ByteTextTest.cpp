#include "octavo/Base/ByteText.h"

#include <gtest/gtest.h>

namespace octavo::base {
namespace {

TEST(ByteText, isExactBelowAKilobyteAndHasOneDigitAbove) {
  EXPECT_EQ(bytesText(0), "0 bytes");
  EXPECT_EQ(bytesText(1), "1 byte");
  EXPECT_EQ(bytesText(999), "999 bytes");
  EXPECT_EQ(bytesText(1000), "1.0 kB");
  EXPECT_EQ(bytesText(16384), "16.4 kB");
  EXPECT_EQ(bytesText(999'949), "999.9 kB");
  EXPECT_EQ(bytesText(999'950), "1.0 MB") << "never 1000.0 kB";
  EXPECT_EQ(bytesText(1'500'000'000), "1.5 GB");
  EXPECT_EQ(bytesText(12'345'000'000'000'000), "12345.0 TB");
}

} // namespace
} // namespace octavo::base
