// A progress bar for long commands, on a terminal only. (Debian 12 has no library of progress
// bars.)
#pragma once

#include "tools/octavo/StatusLine.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace octavo::tools {

/// Shows progressText as a StatusLine.
class Progress {
public:
  Progress(std::string what, std::uint64_t totalBytes);

  /// Adds `bytes` to the bytes done. May be called from any thread.
  void add(std::uint64_t bytes) { done.fetch_add(bytes, std::memory_order_relaxed); }

  double seconds() const { return line.seconds(); }

private:
  std::atomic<std::uint64_t> done = 0;
  StatusLine line; ///< last member: it reads `done` until it is destroyed
};

/// `WHAT [#####...............]  25%, 1.5 of 6.0 GB, 9 s left`. The time left assumes a constant
/// rate. A total of 0 counts as done.
std::string progressText(const std::string& what, std::uint64_t done, std::uint64_t total,
                         double seconds);

} // namespace octavo::tools
