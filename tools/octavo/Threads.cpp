#include "tools/octavo/Threads.h"

namespace octavo::tools {

void addThreadsOption(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Use at most this many threads")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
}

ThreadLimit::ThreadLimit(int threads) {
  if (threads > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism, threads);
}

} // namespace octavo::tools
