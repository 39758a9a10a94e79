#include "octavo/Kernels/MachinePeak.h"

#include "octavo/Kernels/Bf16Dots.h"

#include <gtest/gtest.h>

namespace octavo::kernels {
namespace {

// Operations and bytes alone: rates are for benchmarks, which hold products beside the peak.

TEST(MachinePeak, HalfTheBitsAreTwiceTheOperations) {
  const double f32 = runPeak(Peak::F32, 1), bf16 = runPeak(Peak::Bf16, 1),
               int8 = runPeak(Peak::Int8, 1);
  if (bf16 != 0 && !usesTiles(Isa::Avx512)) // AVX-512's
    EXPECT_EQ(bf16, 2 * f32);
  if (int8 != 0) // AVX2's where AVX-512 has none
    EXPECT_TRUE(int8 == 4 * f32 || int8 == 2 * f32) << int8 << " beside " << f32;
}

TEST(MachinePeak, AllThreadsCount) {
  for (const Peak peak : {Peak::F32, Peak::Bf16, Peak::Int8})
    EXPECT_EQ(runPeak(peak, 3), 3 * runPeak(peak, 1));
}

TEST(MachinePeak, EachThreadReadsItsOwnPart) {
  alignas(64) const std::byte memory[2 * 4096] = {};
  EXPECT_EQ(readMemory(memory, 4096, 3, 2), 3.0 * 2 * 4096);
}

} // namespace
} // namespace octavo::kernels
