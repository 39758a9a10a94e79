#include "octavo/Kernels/Execution.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

namespace octavo::kernels {

Stores storesFor(std::size_t bytes) {
  // Virtual machines report the last level of their whole host, some systems none.
  static const std::size_t cache = [] {
    constexpr long kMost = 32l << 20;
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return static_cast<std::size_t>(size > 0 ? std::min(size, kMost) : kMost);
  }();
  return bytes > cache ? Stores::Streaming : Stores::Cached;
}

void forRangesOnThreads(std::size_t n, std::size_t grain, int threads,
                        const std::function<void(std::size_t, std::size_t)>& body) {
  const std::size_t pieces = (n + grain - 1) / grain;
  auto run = [&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, pieces),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        body(range.begin() * grain, std::min(range.end() * grain, n));
                      });
  };
  if (threads == 0)
    return run();
  tbb::task_arena(threads).execute(run);
}

} // namespace octavo::kernels
