// The machine's peak rates: loops that only multiply in registers, or only read memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// The element type of a peak. The loop uses the instruction with the most multiply-adds.
enum class Peak : std::uint8_t {
  F32,  ///< fused multiply-adds
  Bf16, ///< dot products of pairs, or tiles of them, summed in f32
  Int8, ///< dot products of four, summed in 32 bits; on AVX2, of pairs, summed in 16 bits
};

/// Runs the loop of `peak` on each of `threads` threads for about a millisecond. Returns the
/// operations of all threads together, two per multiply-add; 0 if the machine has no such
/// instruction or its architecture is unknown here.
double runPeak(Peak peak, int threads);

/// Reads memory on each of `threads` threads: thread i reads the `bytes` bytes from
/// `memory + i * bytes` on, `times` times. Returns the bytes read by all threads together. `memory`
/// is aligned to 64 bytes, `bytes` is a multiple of 1024.
double readMemory(const std::byte* memory, std::size_t bytes, int times, int threads);

} // namespace octavo::kernels
