// Checks for interruption (Ctrl-C) within a step.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <atomic>

namespace octavo::program {

/// Whether the run is to end. All threads of a step share one object.
class Interruption {
public:
  explicit Interruption(const Frame& frame) : host(*frame.host) {}
  /// Asks the run context, and remembers a positive answer.
  bool isAsked() {
    if (!wasAsked() && host.isInterrupted && host.isInterrupted())
      found.store(true, std::memory_order_relaxed);
    return wasAsked();
  }
  /// Whether an earlier question was answered positively.
  bool wasAsked() const { return found.load(std::memory_order_relaxed); }

private:
  const RunContext& host;
  std::atomic<bool> found = false;
};

} // namespace octavo::program
