#include "octavo/Checkpoint/Work.h"

#include <tbb/task_arena.h>

namespace octavo::checkpoint {

int workersFor(const WorkSettings& settings, std::uint64_t pieceMemory) {
  // More threads than processors: some wait for the disk while the others compute.
  constexpr int kWaiting = 4;
  const int useful = tbb::this_task_arena::max_concurrency() + kWaiting;
  const int threads = settings.threads > 0 ? std::min(settings.threads, useful) : useful;
  const std::uint64_t fit = settings.memory / std::max<std::uint64_t>(1, pieceMemory);
  return static_cast<int>(std::clamp<std::uint64_t>(fit, 1, static_cast<std::uint64_t>(threads)));
}

} // namespace octavo::checkpoint
