// Handles Ctrl-C while a program runs.
#pragma once

#include "tools/octavo/Interruption.h"

#include "octavo/Program/Values/RunContext.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace octavo::tools {

/// During its lifetime, an interrupted run ends between two operations, with an error that says
/// where. If an operation does not end soon, the process exits with the same message. That is safe,
/// because a run writes nothing before it is over.
class RunInterruption {
public:
  /// Watches runs that use `host` or a copy of it.
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
