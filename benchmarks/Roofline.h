// The memory roofline: the time of loops that only move memory.
#pragma once

#include <cstddef>

namespace octavo::benchmarks {

/// Reads `readBytes` and writes `writeBytes` in equal steps, bypassing the caches. The first call
/// for this traffic measures several variants (numbers of streams, prefetching); later calls use
/// the fastest. A kernel with the same traffic can still be faster if it moves memory in a better
/// way. Both sizes are 0 or multiples of 256 KiB, and one is a multiple of the other. `threads` is
/// as in kernels::Execution.
void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads);

} // namespace octavo::benchmarks
