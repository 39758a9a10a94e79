#include "octavo/Kernels/ThreadMemory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>

namespace octavo::kernels {
namespace {

TEST(ThreadMemory, isAlignedAndMayBeWrittenWhole) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4096, 5000, 1 << 20, (64 << 20) + 1}) {
    std::byte* memory = takeThreadMemory(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    std::memset(memory, 1, bytes + 64);
    giveBackThreadMemory(memory, bytes);
  }
}

#if !__has_feature(address_sanitizer)
TEST(ThreadMemory, isKeptForWhoAsksForAsMuch) {
  std::byte* const memory = takeThreadMemory(1000);
  std::byte* const other = takeThreadMemory(1000);
  EXPECT_NE(memory, other);
  giveBackThreadMemory(memory, 1000);
  EXPECT_EQ(takeThreadMemory(1024), memory);
  giveBackThreadMemory(memory, 1024);
  giveBackThreadMemory(other, 1000);
}
#endif

TEST(ThreadMemory, goesBackOnAnotherThreadAndAtItsEnd) {
  std::byte* const memory = takeThreadMemory(3000);
  std::thread([memory] {
    giveBackThreadMemory(memory, 3000);
    thread_local ThreadVector<int> last(700); // gone after the thread's pool, or before
    last[0] = 1;
  }).join();
}

TEST(ThreadVector, hasTheValuesThatItIsGiven) {
  ThreadVector<int> numbers(5, 7);
  numbers.push_back(8);
  EXPECT_EQ(numbers, (ThreadVector<int>{7, 7, 7, 7, 7, 8}));
  EXPECT_THROW(ThreadVector<double>(ThreadVector<double>().max_size()), std::exception);
}

} // namespace
} // namespace octavo::kernels
