#include "octavo/Base/Processor.h"

#include <gtest/gtest.h>

#include <thread>

#if defined(__linux__)
#include <sched.h>

namespace octavo::base {

namespace {

cpu_set_t ownProcessors() {
  cpu_set_t own;
  EXPECT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  return own;
}

/// Runs f in a new thread, whose processors affect no other test.
template <typename F> void inThread(F f) { std::thread(f).join(); }

TEST(Processor, AThreadLeavesItAndMayComeBack) {
  inThread([] {
    const cpu_set_t before = ownProcessors();
    const int left = processor();
    leaveProcessor(left);
    const cpu_set_t after = ownProcessors();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  });
}

TEST(Processor, AThreadOfOneStays) {
  inThread([] {
    const int only = processor();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(only), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    leaveProcessor(only);
    EXPECT_EQ(processor(), only);
    const cpu_set_t after = ownProcessors();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  });
}

} // namespace

} // namespace octavo::base

#endif
