#include "octavo/Numerics/Philox.h"

#include "octavo/Numerics/Conversion.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace octavo::numerics {
namespace {

// Random123's kat_vectors, philox4x32 10.
static_assert(philox({0, 0, 0, 0}, {0, 0}) ==
              PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(PhiloxTest, StreamsTakeCounterAndKeyFromIndexAndSeed) {
  const RandomStream stream{.seed = 0x299f31d0a4093822, .stream = 0x0370734413198a2e};
  const std::uint64_t index = 4 * 0x05a308d3243f6a88u; // index / 4 has 62 bits
  const PhiloxCounter expected =
      philox({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  for (unsigned word = 0; word < 4; ++word)
    EXPECT_EQ(stream[index + word], expected[word]);
  EXPECT_NE((RandomStream{.seed = 1})[0], (RandomStream{.stream = 1})[0]);
}

TEST(PhiloxTest, PartsOfAStreamAreTheStream) {
  const RandomStream stream{.seed = 42, .stream = 7};
  for (std::uint64_t first : {0ull, 1ull, 2ull, 3ull, 5ull, 0xFFFFFFFEull * 4})
    for (std::size_t size : {0, 1, 3, 4, 9, 64}) {
      std::vector<std::uint32_t> numbers(size + 1, 0xAAAAAAAA);
      stream.fill(first, std::span(numbers).first(size));
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(numbers[i], stream[first + i]) << first << " + " << i;
      EXPECT_EQ(numbers[size], 0xAAAAAAAA);
    }
}

// N5: of the 2^32 numbers, exactly ceil(2^32 d) round away: an expectation exact to 2^-32, and
// exact where d is a multiple of that.
TEST(PhiloxTest, TheExpectationIsExact) {
  const ElementFormat& e2m1 = format::element("e2m1fn");
  for (double d : {0x1p-32, 0x1p-10, 0.25, 1.0 / 3, 0.5, 0.75, 1 - 0x1p-32}) {
    const double value = 4 + 2 * d;
    const auto rounded = [&](std::uint64_t r) {
      return round(e2m1, value,
                   {.rounding = Rounding::Stochastic, .randomBits = static_cast<std::uint32_t>(r)});
    };
    const auto up = static_cast<std::uint64_t>(std::ceil(std::ldexp(d, 32)));
    EXPECT_EQ(rounded(up - 1), 6) << d;
    EXPECT_EQ(rounded(0), 6) << d;
    if (up < std::uint64_t{1} << 32)
      EXPECT_EQ(rounded(up), 4) << d;
    EXPECT_EQ(rounded(0xFFFFFFFF), up > 0xFFFFFFFF ? 6 : 4) << d;
  }
}

TEST(PhiloxTest, MeansOfAStreamAreThoseValues) {
  const RandomStream stream{.seed = 20};
  constexpr int kCount = 1 << 20;
  for (double d : {0.1, 0.5, 0.9}) {
    int up = 0;
    for (int i = 0; i < kCount; ++i)
      up += round(format::element("e4m3fn"), 32 + 4 * d,
                  {.rounding = Rounding::Stochastic,
                   .randomBits = stream[static_cast<std::uint64_t>(i)]}) == 36;
    const double deviation = std::sqrt(d * (1 - d) * kCount);
    EXPECT_NEAR(up, d * kCount, 5 * deviation) << d;
  }
}

} // namespace
} // namespace octavo::numerics
