// The instruction set and the threads of a call. The number of threads changes no result, and the
// instruction set only the results that Product.h and PlainProduct.h name.
#pragma once

#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/WideMemory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace octavo::kernels {

struct Execution {
  Isa isa = defaultIsa(); ///< Precondition of every call: !whyNot(isa).
  int threads = 0;        ///< the most threads; 0: as many as the machine has
};

/// The number of threads that a call may use; at least 1.
int threadsOf(const Execution& execution);

/// Streaming if `bytes`, read and written by one call, exceed the last-level cache. A cache above
/// 32 MiB, or of unknown size, counts as 32 MiB.
Stores storesFor(std::size_t bytes);

/// forRanges on several threads, with n > grain.
void forRangesOnThreads(std::size_t n, std::size_t grain, int threads,
                        const std::function<void(std::size_t begin, std::size_t end)>& body);

/// Calls body(begin, end) for ranges that cover [0, n), each begin a multiple of `grain`.
template <typename Body>
void forRanges(std::size_t n, std::size_t grain, const Execution& execution, const Body& body) {
  if (n == 0)
    return;
  if (execution.threads == 1 || n <= grain)
    body(std::size_t{0}, n);
  else
    forRangesOnThreads(n, grain, execution.threads, std::cref(body));
}

/// The maximum over several threads.
class SharedMaximum {
public:
  void raise(std::uint32_t found) {
    std::uint32_t current = largest.load(std::memory_order_relaxed);
    while (found > current && !largest.compare_exchange_weak(current, found)) {
    }
  }
  std::uint32_t get() const { return largest.load(); }

private:
  std::atomic<std::uint32_t> largest{0};
};

} // namespace octavo::kernels
