#include "octavo/Kernels/Widen.h"

#include "octavo/Numerics/Conversion.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace octavo::kernels {
namespace {

struct Wide {
  WideType type;
  const format::ElementFormat& format;
};
const Wide kWide[] = {{WideType::Bf16, format::element("bf16")},
                      {WideType::F16, format::element("f16")}};

TEST(Widen, everyCode) {
  for (const Wide& wide : kWide) {
    std::vector<std::byte> stored(2 * 65536 + 1); // from an odd address, as files have them
    for (unsigned code = 0; code < 65536; ++code)
      std::memcpy(stored.data() + 1 + 2 * code, &code, 2);
    std::vector<float> values(65536);
    widen(wide.type, stored.data() + 1, values.data(), values.size());
    for (unsigned code = 0; code < 65536; ++code) {
      const double expected = numerics::decode(wide.format, code);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(values[code])) << wide.format.name << " " << code;
      else
        ASSERT_EQ(values[code], expected) << wide.format.name << " " << code;
      ASSERT_EQ(std::signbit(values[code]), code >= 0x8000);
    }
  }
}

TEST(Widen, narrowIsTheOneRoundingOfTheSpecification) {
  std::mt19937 random(1);
  for (const Wide& wide : kWide) {
    std::vector<float> values;
    for (unsigned code = 0; code < 65536; ++code) // every value, tie and neighbour of a tie
      for (std::uint32_t half : {0u, 0x1000u, 0x8000u})
        for (int step : {-1, 0, 1}) {
          const auto value = static_cast<float>(numerics::decode(wide.format, code));
          values.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + half + step));
        }
    for (int i = 0; i < 300'000; ++i)
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    std::vector<std::byte> stored(2 * values.size() + 1);
    const std::size_t overflowed =
        narrow(wide.type, values.data(), stored.data() + 1, values.size());
    std::size_t expectedOverflows = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t code;
      std::memcpy(&code, stored.data() + 1 + 2 * i, 2);
      const std::uint64_t expected = numerics::convert(wide.format, values[i]);
      if (std::isnan(values[i]))
        ASSERT_TRUE(wide.format.isNan(code));
      else
        ASSERT_EQ(code, expected) << wide.format.name << " " << values[i];
      ASSERT_EQ(code >= 0x8000, std::signbit(values[i]));
      expectedOverflows += wide.format.isInf(expected) && std::isfinite(values[i]);
    }
    EXPECT_EQ(overflowed, expectedOverflows);
    EXPECT_GT(overflowed, 0u);
  }
}

TEST(Widen, f32IsItself) {
  const float values[] = {1.0f, -0.0f, INFINITY, 1e-45f};
  float widened[4], narrowed[4];
  widen(WideType::F32, values, widened, 4);
  EXPECT_EQ(narrow(WideType::F32, values, narrowed, 4), 0u);
  EXPECT_EQ(std::memcmp(values, widened, sizeof values), 0);
  EXPECT_EQ(std::memcmp(values, narrowed, sizeof values), 0);
}

// For the undefined behaviour sanitizer: without an address there is nothing to copy.
TEST(Widen, nothingNeedsNoAddress) {
  for (const WideType type : {WideType::F32, WideType::Bf16, WideType::F16}) {
    widen(type, nullptr, nullptr, 0);
    EXPECT_EQ(narrow(type, nullptr, nullptr, 0), 0u);
  }
}

} // namespace
} // namespace octavo::kernels
