// Work on many pieces of a checkpoint: on several threads, within a bound of memory.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Piece.h"

#include <tl/expected.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

namespace octavo::checkpoint {

struct WorkSettings {
  std::uint64_t memory = std::uint64_t{1} << 30; ///< for pieces in work, in bytes
  int threads = 0; ///< 0: as many as the machine has, and some that wait for the disk
  /// Called with bytes that are done, from any thread.
  std::function<void(std::uint64_t)> progress = {};
  /// Asked before each piece, from any thread: whether to stop with an error.
  std::function<bool()> isInterrupted = {};

  void advance(std::uint64_t bytes) const {
    if (progress)
      progress(bytes);
  }
};

/// How many pieces of so much memory may be in work at a time; at least 1.
int workersFor(const WorkSettings& settings, std::uint64_t pieceMemory);

/// Calls `work(i, scratch)` for 0 to n - 1, in about that order, on several threads; stops at an
/// error. Of several errors it gives the first in order, as far as threads have come to it.
/// `pieceMemory` is what one of them takes at most.
template <typename DoWork>
tl::expected<void, Error> inParallel(const WorkSettings& settings, std::uint64_t pieceMemory,
                                     std::size_t n, DoWork work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::optional<Error> failure;
  std::size_t failed = std::numeric_limits<std::size_t>::max();
  const auto take = [&] {
    Scratch scratch;
    for (std::size_t i; (i = next++) < n;) {
      tl::expected<void, Error> done =
          settings.isInterrupted && settings.isInterrupted()
              ? tl::unexpected(Error{.file = "", .problem = "interrupted"})
              : work(i, scratch);
      if (done)
        continue;
      next = n;
      const std::lock_guard lock(mutex);
      if (i < failed) {
        failed = i;
        failure = std::move(done.error());
      }
    }
  };
  // Not std::thread: exceptions of the others are this thread's, too.
  const auto workers = static_cast<std::size_t>(workersFor(settings, pieceMemory));
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(n, workers); ++i)
    others.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& other : others)
    other.get();
  if (failure)
    return tl::unexpected(std::move(*failure));
  return {};
}

} // namespace octavo::checkpoint
