#include "octavo/Kernels/Pack.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <random>
#include <tbb/global_control.h>
#include <vector>

namespace octavo::kernels {
namespace {

/// The definition, bit by bit.
std::vector<std::uint8_t> packedBitByBit(const std::vector<std::uint8_t>& codes, int width) {
  std::vector<std::uint8_t> packed((codes.size() * static_cast<std::size_t>(width) + 7) / 8);
  for (std::size_t i = 0; i < codes.size(); ++i)
    for (int bit = 0; bit < width; ++bit) {
      const std::size_t place = i * static_cast<std::size_t>(width) + static_cast<std::size_t>(bit);
      packed[place / 8] |= static_cast<std::uint8_t>((codes[i] >> bit & 1) << place % 8);
    }
  return packed;
}

class PackKernels : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(PackKernels);

TEST_P(PackKernels, EveryLength) {
  std::mt19937 random(5);
  for (int width = 1; width <= 8; ++width)
    for (std::size_t n = 0; n < 700; n += n < 300 ? 1 : 13) {
      std::vector<std::uint8_t> codes(n);
      for (std::uint8_t& code : codes)
        code = static_cast<std::uint8_t>(random());
      const std::vector<std::uint8_t> expected = packedBitByBit(codes, width);
      ASSERT_EQ(expected.size(), packedBytes(n, width));
      std::vector<std::uint8_t> packed(expected.size() + 70, 0xAA);
      pack(codes.data(), n, width, packed.data(), execution());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), packed.begin()))
          << width << " " << n;
      for (std::size_t i = expected.size(); i < packed.size(); ++i)
        ASSERT_EQ(packed[i], 0xAA) << "written beyond the end: " << width << " bits, " << n;

      std::vector<std::uint8_t> back(n + 70, 0xAA);
      const std::vector<std::uint8_t> exact(expected); // no byte to spare, for the sanitizer
      unpack(exact.data(), n, width, back.data(), execution());
      for (std::size_t i = 0; i < back.size(); ++i)
        ASSERT_EQ(back[i], i < n ? codes[i] & ((1 << width) - 1) : 0xAA) << width << " " << n;
    }
}

TEST_P(PackKernels, HandPacked) {
  // Quark's layout: b0 = v0 | v1 << 6, b1 = v1 >> 2 | v2 << 4, b2 = v2 >> 4 | v3 << 2.
  const std::uint8_t six[] = {0x01, 0x3F, 0x20, 0x15};
  std::uint8_t packed[3];
  pack(six, 4, 6, packed, execution());
  EXPECT_EQ(packed[0], 0xC1);
  EXPECT_EQ(packed[1], 0x0F);
  EXPECT_EQ(packed[2], 0x56);
  const std::uint8_t four[] = {0x1, 0xF, 0x8};
  pack(four, 3, 4, packed, execution());
  EXPECT_EQ(packed[0], 0xF1);
  EXPECT_EQ(packed[1], 0x08);
}

TEST_P(PackKernels, ManyThreads) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 7);
  std::vector<std::uint8_t> codes((1 << 20) + 3);
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint8_t>(i * 37 >> 3);
  for (int width : {4, 5, 6}) {
    const std::vector<std::uint8_t> expected = packedBitByBit(codes, width);
    for (int threads : {1, 2, 3, 7}) {
      std::vector<std::uint8_t> packed(expected.size());
      pack(codes.data(), codes.size(), width, packed.data(), execution(threads));
      EXPECT_EQ(packed, expected) << threads;
    }
  }
}

} // namespace
} // namespace octavo::kernels
