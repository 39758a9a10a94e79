#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <gtest/gtest.h>

#include <random>

namespace octavo::checkpoint {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values)
    result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(PackedCodes, lowNibbleFirst) {
  EXPECT_EQ(packCodes(bytes({0x1, 0x2, 0xf}), 4), bytes({0x21, 0x0f}));
  EXPECT_EQ(unpackCodes(bytes({0x21, 0x0f}), 4, 3), bytes({0x1, 0x2, 0xf}));
}

// b0 = v0 | v1 << 6, b1 = v1 >> 2 | v2 << 4, b2 = v2 >> 4 | v3 << 2, worked by hand.
TEST(PackedCodes, fourSixBitCodesInThreeBytes) {
  const auto codes = bytes({0b000001, 0b100010, 0b011101, 0b111110});
  const auto packed = bytes({0b10000001, 0b11011000, 0b11111001});
  EXPECT_EQ(packCodes(codes, 6), packed);
  EXPECT_EQ(unpackCodes(packed, 6, 4), codes);
}

TEST(PackedCodes, bytesAreCountedWithoutOverflow) {
  EXPECT_EQ(packedBytes(0, 4), 0u);
  EXPECT_EQ(packedBytes(1, 4), 1u);
  EXPECT_EQ(packedBytes(2, 4), 1u);
  EXPECT_EQ(packedBytes(5, 6), 4u);
  EXPECT_EQ(packedBytes(std::uint64_t{1} << 63, 4), std::uint64_t{1} << 62);
}

TEST(PackedCodes, everyWidthComesBack) {
  std::mt19937 random(7);
  for (int width = 1; width <= 8; ++width)
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::byte> codes(count);
      for (std::byte& code : codes)
        code = static_cast<std::byte>(random() & ((1u << width) - 1));
      const auto packed = packCodes(codes, width);
      ASSERT_EQ(packed.size(), packedBytes(count, width));
      ASSERT_EQ(unpackCodes(packed, width, count), codes) << width << " bits, " << count;
    }
}

} // namespace
} // namespace octavo::checkpoint
