// What the machine does in plain loops that do nothing but move memory or multiply.
#pragma once

#include <cstddef>
#include <string_view>

namespace octavo::benchmarks {

/// Reads `readBytes` and writes `writeBytes` in equal steps, around the caches, doing nothing else.
/// A kernel of that traffic can be faster where it moves memory in a better way. Of the ways it
/// knows (streams, asking for memory early) it takes the fastest for that traffic on this machine,
/// which the first call finds out. Both sizes are multiples of 256 KiB where they are not 0, and
/// one of them a multiple of the other. `threads` as in kernels::Execution.
void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads);

/// The peak of an instruction, in registers.
enum class Peak {
  MultiplyAdd, ///< of f32
  ByteDots,    ///< multiply-add of u8 by s8 in pairs, and a sum of 16-bit words: AVX2's int8 dots
};

/// Runs it for about a millisecond on each of `threads`; how many multiply-adds that was, all
/// together. 0 where the machine lacks AVX2.
double runPeak(Peak peak, int threads);

} // namespace octavo::benchmarks
