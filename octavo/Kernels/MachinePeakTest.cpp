#include "octavo/Kernels/MachinePeak.h"

#include "octavo/Kernels/Product/PlainProduct.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <vector>

namespace octavo::kernels {
namespace {

/// The greatest rate of several turns.
template <typename Run> double rateOf(const Run& run) {
  double most = 0;
  for (int turn = 0; turn < 20; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    const double done = run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    most = std::max(most, done / seconds.count());
  }
  return most;
}

TEST(MachinePeak, NoProductIsFaster) {
  if (runPeak(Peak::F32, 1) == 0)
    GTEST_SKIP() << "no loop for this machine";
  constexpr std::int64_t kSize = 192;
  const std::vector<float> values(kSize * kSize, 0.5f);
  std::vector<float> c(values.size());
  const PackedMatrix right = packMatrix(values.data(), kSize, kSize, kSize, 1, {.threads = 1});
  const double product = rateOf([&] {
    multiplyRows(values.data(), kSize, kSize, right, c.data(), kSize, {.threads = 1});
    return 2.0 * kSize * kSize * kSize;
  });
  const double peak = rateOf([] { return runPeak(Peak::F32, 1); });
  EXPECT_LT(product, 1.05 * peak);
  // A product that is far from it would say that too much is counted.
  if (defaultIsa() != Isa::Portable)
    EXPECT_GT(product, 0.4 * peak);
}

TEST(MachinePeak, NarrowerElementsAreNotSlower) {
  const double f32 = rateOf([] { return runPeak(Peak::F32, 1); });
  for (const Peak peak : {Peak::Bf16, Peak::Int8})
    if (runPeak(peak, 1) != 0)
      EXPECT_GT(rateOf([=] { return runPeak(peak, 1); }), f32);
}

TEST(MachinePeak, EachThreadReadsItsOwnPart) {
  alignas(64) const std::byte memory[2 * 4096] = {};
  EXPECT_EQ(readMemory(memory, 4096, 3, 2), 3.0 * 2 * 4096);
}

} // namespace
} // namespace octavo::kernels
