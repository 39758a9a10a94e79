#include "octavo/Kernels/Execution.h"
#include "octavo/Base/Loops.h"
#include "octavo/Base/Threads.h"

#include <algorithm>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

namespace octavo::kernels {

/// `threads`, limited to the machine's: TBB would not start more, and would warn on stderr.
static int allowed(int threads) {
  using tbb::global_control;
  const std::size_t most = global_control::active_value(global_control::max_allowed_parallelism);
  return static_cast<int>(std::min(static_cast<std::size_t>(threads), most));
}

int threadsOf(const Execution& execution) {
  return execution.threads == 0 ? tbb::this_task_arena::max_concurrency()
                                : allowed(execution.threads);
}

Stores storesFor(std::size_t bytes) {
  // Virtual machines report the last-level cache of the whole host; some systems report none.
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
  const auto run = [&] {
    base::forRanges(static_cast<std::int64_t>(pieces), 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      body(static_cast<std::size_t>(begin) * grain,
                           std::min(static_cast<std::size_t>(end) * grain, n));
                    });
  };
  threads = allowed(threads);
  // The caller's arena is used if it has that many threads. A body makes no call with another
  // number of threads.
  if (threads == 0 || threads == tbb::this_task_arena::max_concurrency())
    return run();
  base::withThreads(base::usefulThreads(threads), run);
}

} // namespace octavo::kernels
