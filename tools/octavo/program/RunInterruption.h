// Ctrl-C while a program runs.
#pragma once

#include "tools/octavo/Interruption.h"

#include "octavo/Program/Values/RunContext.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace octavo::tools {

/// While it lives, an interrupted run ends between two operations, with an error that says where.
/// An operation that does not end soon is not waited for: the process ends with the same words,
/// since nothing of a run is written before it is over.
class RunInterruption {
public:
  /// Has runs with this host, or copies of it, watched.
  explicit RunInterruption(program::RunContext& host);
  RunInterruption(const RunInterruption&) = delete;
  ~RunInterruption();

private:
  void watch();

  Interruption interruption;
  std::atomic<program::Whereabouts> at{};
  std::mutex mutex;
  std::condition_variable over;
  bool isOver = false;
  std::thread watcher;
};

} // namespace octavo::tools
