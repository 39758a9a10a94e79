// Runs work on many pieces of a checkpoint on several threads, within a bound of memory.
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

/// Resources of a command, and its hooks for progress and interruption.
struct WorkSettings {
  std::uint64_t memory = std::uint64_t{1} << 30; ///< bytes for pieces in work
  int threads = 0; ///< at most; 0: one for each processor, and 4 more that wait for the disk
  /// Called with the number of bytes just completed, from any thread.
  std::function<void(std::uint64_t)> progress = {};
  /// Called before each piece, from any thread; true stops the work with an error.
  std::function<bool()> isInterrupted = {};

  void advance(std::uint64_t bytes) const {
    if (progress)
      progress(bytes);
  }
};

/// How many pieces of `pieceMemory` bytes may be processed at the same time; at least 1.
int workersFor(const WorkSettings& settings, std::uint64_t pieceMemory);

/// Calls `work(i, scratch)` for i in [0, n), in about that order, on several threads, and stops at
/// an error. If several calls fail, returns the error of the smallest i. `pieceMemory` is the
/// memory of one call at most, in bytes.
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
  // Not std::thread: std::async passes exceptions of the other threads to this thread.
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
