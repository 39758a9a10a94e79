// How far a long command is, on a terminal only. (Debian 12 has no library of progress bars.)
#pragma once

#include "tools/octavo/StatusLine.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace octavo::tools {

/// Shows progressText as a StatusLine does.
class Progress {
public:
  Progress(std::string what, std::uint64_t totalBytes);

  /// So many more bytes are done. May be called from any thread.
  void add(std::uint64_t bytes) { done.fetch_add(bytes, std::memory_order_relaxed); }

  double seconds() const { return line.seconds(); }

private:
  std::atomic<std::uint64_t> done = 0;
  StatusLine line; ///< last: it reads `done` until it is gone
};

/// `WHAT [#####...............]  25%, 1.5 of 6.0 GB, 9 s left`; the time left as if the rest took
/// as long for each byte as what is done. A total of 0 is done.
std::string progressText(const std::string& what, std::uint64_t done, std::uint64_t total,
                         double seconds);

} // namespace octavo::tools
