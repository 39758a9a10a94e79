// Packing of 4-bit and 6-bit codes to bit streams, and back. A set's Parts.h defines narrowWords,
// widenBytes, loadTriples and storeTriples.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

inline constexpr int kTripleBytes = kStep / 4 * 3; ///< of kStep codes of 6 bits

OCTAVO_INLINE std::size_t packedSize(std::size_t n, std::size_t width) {
  return (n * width + 7) / 8;
}

/// Packs 2 * kStep codes to kStep bytes.
struct Pack4 {
  static constexpr int kCodes = 2 * kStep, kPacked = kStep;
  static OCTAVO_INLINE void step(const std::uint8_t* codes, std::uint8_t* packed) {
    U16 pairs[2];
    for (int i = 0; i < 2; ++i) {
      const U16 words = (U16)(load<U8>(codes + i * kStep) & 0x0F);
      pairs[i] = words | words >> 4;
    }
    store(packed, narrowWords(pairs[0], pairs[1]));
  }
};
struct Unpack4 {
  static constexpr int kCodes = 2 * kStep, kPacked = kStep;
  static OCTAVO_INLINE void step(const std::uint8_t* packed, std::uint8_t* codes) {
    U16 words[2];
    widenBytes(packed, words);
    for (int i = 0; i < 2; ++i)
      store(codes + i * kStep, (words[i] | words[i] << 4) & 0x0F0F);
  }
};
/// Packs kStep codes to kTripleBytes: in each dword, four fields of 6 bits are joined to 24 bits.
struct Pack6 {
  static constexpr int kCodes = kStep, kPacked = kTripleBytes;
  static OCTAVO_INLINE void step(const std::uint8_t* codes, std::uint8_t* packed) {
    const U32 x = load<U32>(codes);
    const U32 pairs = (x & 0x003F003F) | (x >> 2 & 0x0FC00FC0);
    storeTriples(packed, (pairs & 0xFFF) | (pairs >> 4 & 0xFFF000));
  }
};
struct Unpack6 {
  static constexpr int kCodes = kStep, kPacked = kTripleBytes;
  static OCTAVO_INLINE void step(const std::uint8_t* packed, std::uint8_t* codes) {
    const U32 x = loadTriples(packed);
    const U32 pairs = (x & 0xFFF) | (x << 4 & 0x0FFF0000);
    store(codes, (pairs & 0x003F003F) | (pairs << 2 & 0x3F003F00));
  }
};

/// Runs `Form` over n codes; the last codes are padded with zeros to a whole step.
template <typename Form, bool kPacking>
static void repack(const std::uint8_t* from, std::uint8_t* to, std::size_t n) {
  constexpr std::size_t kWidth = Form::kPacked * 8 / Form::kCodes;
  constexpr int kFrom = kPacking ? Form::kCodes : Form::kPacked;
  constexpr int kTo = kPacking ? Form::kPacked : Form::kCodes;
  for (; n >= Form::kCodes; n -= Form::kCodes, from += kFrom, to += kTo)
    Form::step(from, to);
  if (n == 0)
    return;
  std::uint8_t in[kFrom] = {};
  std::uint8_t out[kTo];
  __builtin_memcpy(in, from, kPacking ? n : packedSize(n, kWidth));
  Form::step(in, out);
  __builtin_memcpy(to, out, kPacking ? packedSize(n, kWidth) : n);
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
