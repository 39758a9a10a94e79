#include "octavo/Base/Processor.h"

#include <chrono>

#if defined(__linux__)
#include <sched.h>
#endif

namespace octavo::base {

int processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

void leaveProcessor([[maybe_unused]] int processor) {
#if defined(__linux__)
  // If other programs keep all processors busy, moving again does not help.
  constexpr std::chrono::milliseconds kRest(5);
  thread_local std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now();
  cpu_set_t own;
  if (now - last < kRest || sched_getaffinity(0, sizeof own, &own) != 0)
    return;
  last = now;
  cpu_set_t others = own;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) != 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof own, &own);
#endif
}

} // namespace octavo::base
