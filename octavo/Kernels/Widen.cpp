#include "octavo/Kernels/Widen.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace octavo::kernels {

// Integer arithmetic without branches, which the compiler makes vectors of for every set: these
// loops wait for memory, so no folder of instruction sets has them.

static std::uint32_t bitsOf(float value) { return std::bit_cast<std::uint32_t>(value); }

/// An empty tensor may have no address, which memcpy must not get.
static void copyFloats(void* to, const void* from, std::size_t n) {
  if (n > 0)
    std::memcpy(to, from, n * sizeof(float));
}

static std::uint32_t load16(const std::byte* from) {
  std::uint16_t code;
  std::memcpy(&code, from, 2);
  return code;
}

static float widenF16(std::uint32_t code) {
  // The fields moved to f32's are the value times 2^-112, exactly, also for subnormals.
  const float value = std::bit_cast<float>((code & 0x7fff) << 13) * 0x1p112f;
  const std::uint32_t special = (code & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
  return std::bit_cast<float>(bitsOf(value) | special | (code & 0x8000) << 16);
}

void widen(WideType type, const void* values, float* to, std::size_t n) {
  const auto* from = static_cast<const std::byte*>(values);
  switch (type) {
  case WideType::F32:
    copyFloats(to, from, n);
    return;
  case WideType::Bf16:
    for (std::size_t i = 0; i < n; ++i)
      to[i] = std::bit_cast<float>(load16(from + 2 * i) << 16);
    return;
  case WideType::F16:
    for (std::size_t i = 0; i < n; ++i)
      to[i] = widenF16(load16(from + 2 * i));
    return;
  }
}

static constexpr std::uint32_t kInfBits = 0x7f800000;

/// A NaN of the upper bits, quiet: its payload may lie in the lower bits alone.
static std::uint32_t narrowBf16(std::uint32_t x) {
  const std::uint32_t rounded = (x + 0x7fff + (x >> 16 & 1)) >> 16;
  return (x & 0x7fffffff) > kInfBits ? x >> 16 | 0x40 : rounded;
}

static std::uint32_t narrowF16(std::uint32_t x) {
  const std::uint32_t magnitude = x & 0x7fffffff;
  // From 2^-14 up: the exponent moves by 112, the carry of rounding goes into it, and on to Inf.
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t finite = normal > 0x7c00 ? 0x7c00 : normal;
  // Below, the sum with 0.5 has the spacing 2^-24 of f16's subnormals.
  const std::uint32_t subnormal = bitsOf(std::bit_cast<float>(magnitude) + 0.5f) - bitsOf(0.5f);
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const std::uint32_t code = magnitude > kInfBits     ? nan
                             : magnitude < 0x38800000 ? subnormal
                                                      : finite;
  return code | (x >> 16 & 0x8000);
}

template <typename Narrow>
static std::size_t narrowAll(const float* values, std::byte* to, std::size_t n, std::uint32_t inf,
                             Narrow narrow) {
  constexpr std::size_t kPiece = 4096; // a counter as wide as the lanes does for so many
  std::size_t overflowed = 0;
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t end = std::min(n, begin + kPiece);
    std::uint32_t found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t x = bitsOf(values[i]);
      const std::uint32_t wide = narrow(x);
      const auto code = static_cast<std::uint16_t>(wide);
      std::memcpy(to + 2 * i, &code, 2);
      found += (wide & 0x7fff) == inf && (x & 0x7fffffff) < kInfBits;
    }
    overflowed += found;
  }
  return overflowed;
}

std::size_t narrow(WideType type, const float* values, void* to, std::size_t n) {
  auto* bytes = static_cast<std::byte*>(to);
  switch (type) {
  case WideType::F32:
    copyFloats(bytes, values, n);
    return 0;
  case WideType::Bf16:
    return narrowAll(values, bytes, n, 0x7f80, narrowBf16);
  case WideType::F16:
    return narrowAll(values, bytes, n, 0x7c00, narrowF16);
  }
  return 0;
}

} // namespace octavo::kernels
