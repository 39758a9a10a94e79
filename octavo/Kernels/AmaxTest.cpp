#include "octavo/Kernels/Amax.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace octavo::kernels {
namespace {

class AmaxKernels : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(AmaxKernels);

TEST_P(AmaxKernels, TheGreatestAtEveryPlace) {
  std::vector<float> values;
  for (std::size_t n = 0; n < 200; ++n) {
    EXPECT_EQ(amax(WideType::F32, values.data(), n, execution()), n ? 1.0f : 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = -3.5f;
      ASSERT_EQ(amax(WideType::F32, values.data(), n, execution()), 3.5f) << i << " of " << n;
      values[i] = 1.0f;
    }
    values.push_back(1.0f);
  }
}

TEST_P(AmaxKernels, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values(1 << 18, -0.25f);
  for (int threads : {1, 2}) {
    values[70'000] = -kInf;
    EXPECT_EQ(amax(WideType::F32, values.data(), values.size(), execution(threads)), kInf);
    values[200'000] = -std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(amax(WideType::F32, values.data(), values.size(), execution(threads))));
    values[70'000] = values[200'000] = 1e-45f;
    EXPECT_EQ(amax(WideType::F32, values.data(), values.size(), execution(threads)), 0.25f);
  }
}

TEST_P(AmaxKernels, Halves) {
  std::vector<std::uint16_t> bf16(100, 0x3F80), f16(100, 0x3C00); // ones
  EXPECT_EQ(amax(WideType::Bf16, bf16.data(), 100, execution()), 1.0f);
  EXPECT_EQ(amax(WideType::F16, f16.data(), 100, execution()), 1.0f);
  bf16[99] = 0xC040; // -3
  f16[99] = 0xC200;  // -3
  EXPECT_EQ(amax(WideType::Bf16, bf16.data(), 100, execution()), 3.0f);
  EXPECT_EQ(amax(WideType::F16, f16.data(), 100, execution()), 3.0f);
}

} // namespace
} // namespace octavo::kernels
