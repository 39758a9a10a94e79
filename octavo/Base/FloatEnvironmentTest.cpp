#include "octavo/Base/FloatEnvironment.h"

#include "octavo/Base/Loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cfenv>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace octavo::base {

namespace {

/// Opaque to the optimizer, which would otherwise fold arithmetic under the default environment.
template <typename T> T at(T value) {
  volatile T kept = value;
  return kept;
}

/// Results in the default environment, by IEEE 754: 1/3 rounded down, its negation, and subnormals
/// as inputs and results.
bool isDefault() {
  const float third = at(1.0f) / at(3.0f), minus = at(-1.0f) / at(3.0f);
  const float tiny = at(FLT_MIN) / at(2.0f); // a subnormal result
  const long double one = at(1.0L), wide = one + at(LDBL_EPSILON);
  return third == 0x1.555556p-2f && minus == -third && tiny == 0x1p-127f &&
         at(0x1p-149f) * at(0x1p100f) == 0x1p-49f && wide != one;
}

#if defined(__x86_64__)
std::uint32_t state() {
  std::uint32_t found;
  asm volatile("stmxcsr %0" : "=m"(found));
  return found & ~0x3Fu;
}
void setState(std::uint32_t to) { asm volatile("ldmxcsr %0" : : "m"(to) : "memory"); }
constexpr std::uint32_t kFlushResults = 0x8000, kFlushOperands = 0x0040;
constexpr std::uint32_t kUsual = 0x1F80;
const std::vector<std::uint32_t> kStates = {kUsual,
                                            kUsual | kFlushResults,
                                            kUsual | kFlushOperands,
                                            kUsual | kFlushResults | kFlushOperands,
                                            kUsual | 0x2000,
                                            kUsual | 0x4000,
                                            kUsual | 0x6000,
                                            kUsual | 0xE040,
                                            0}; // every exception traps
#elif defined(__aarch64__)
std::uint64_t state() {
  std::uint64_t found;
  asm volatile("mrs %0, fpcr" : "=r"(found));
  return found;
}
void setState(std::uint64_t to) { asm volatile("msr fpcr, %0" : : "r"(to) : "memory"); }
const std::vector<std::uint64_t> kStates = {0, 1u << 24, 1u << 22, 2u << 22, 3u << 22};
#endif

#if defined(__x86_64__) || defined(__aarch64__)

/// Runs f in a new thread, so that its control state affects no other test.
template <typename F> void onNewThread(F f) { std::thread(f).join(); }

TEST(FloatEnvironment, IsTheDefaultAndIsRestored) {
  for (const auto given : kStates)
    onNewThread([given] {
      setState(given);
      {
        const DefaultFloatEnvironment environment;
        EXPECT_TRUE(isDefault()) << given;
        {
          const DefaultFloatEnvironment again;
        }
        EXPECT_TRUE(isDefault()) << given;
      }
      const auto after = state();
      setState(kStates.front());
      EXPECT_EQ(after, given);
    });
}

TEST(FloatEnvironment, HoldsForEveryRoundingOfTheCLibrary) {
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    onNewThread([rounding] {
      ASSERT_EQ(std::fesetround(rounding), 0);
      {
        const DefaultFloatEnvironment environment;
        EXPECT_TRUE(isDefault()) << rounding;
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      }
      EXPECT_EQ(std::fegetround(), rounding);
    });
}

TEST(FloatEnvironment, IsThatOfEveryThreadOfALoop) {
  for (const auto given : kStates)
    onNewThread([given] {
      if (given == 0) // traps: the test's own conversions would raise them
        return;
      // Subnormals, in another order.
      std::vector<float> values(20000);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 7919 % values.size()));
      setState(given);
      std::atomic<int> wrong = 0;
      // Threads that the pool creates here inherit the state.
      withThreads(2, [&] {
        forEach(64, [&](std::int64_t) {
          if (!isDefault())
            ++wrong;
        });
      });
      base::sort(values.begin(), values.end(), [](float a, float b) { return a < b; });
      const auto after = state();
      setState(kStates.front());
      EXPECT_EQ(wrong, 0) << given;
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), i) << given;
      EXPECT_EQ(after, given);
    });
}

#endif

} // namespace

} // namespace octavo::base
