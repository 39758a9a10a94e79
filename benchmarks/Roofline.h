// What the machine does in plain loops that do nothing but move memory.
#pragma once

#include <cstddef>

namespace octavo::benchmarks {

/// Reads `readBytes` and writes `writeBytes` in equal steps, around the caches, doing nothing else.
/// A kernel of that traffic can be faster where it moves memory in a better way. Of the ways it
/// knows (streams, asking for memory early) it takes the fastest for that traffic on this machine,
/// which the first call finds out. Both sizes are multiples of 256 KiB where they are not 0, and
/// one of them a multiple of the other. `threads` as in kernels::Execution.
void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads);

} // namespace octavo::benchmarks
