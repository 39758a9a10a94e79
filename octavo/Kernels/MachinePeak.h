// What the machine does in plain loops that do nothing but multiply in registers, or read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// The instruction that multiplies and adds most of these elements.
enum class Peak : std::uint8_t {
  F32,  ///< fused multiply-adds
  Bf16, ///< dots of pairs, or tiles of them, summed in f32
  Int8, ///< dots of fours, summed in 32 bits; AVX2's are of pairs, in 16 bits
};

/// Runs it for about a millisecond on each of `threads`. Operations of all together, two a
/// multiply-add; 0 where the machine has no such instruction, or is not one that this knows.
double runPeak(Peak peak, int threads);

/// Reads, on each of `threads`, `bytes` of its own `times` times: thread i those from
/// `memory + i * bytes` on. Bytes of all together. `memory` is aligned
/// to 64 bytes, `bytes` a multiple of 1024.
double readMemory(const std::byte* memory, std::size_t bytes, int times, int threads);

} // namespace octavo::kernels
