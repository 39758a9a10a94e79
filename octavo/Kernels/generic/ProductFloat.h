// Products of floats with one sum for each element of C, in f32, over the steps of K in order: of
// multiply-adds, or of VDPBF16PS on pairs. Included by a set's file after its ProductParts.h and a
// FloatDot: kGroupSteps, row, step, expand.
#pragma once

#include "octavo/Kernels/ProductKernels.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// kRows rows by kPanels panels; every sum in a register.
template <typename Dot, int kRows, int kPanels> void floatTile(const FloatTileArguments& tile) {
  constexpr int kPanelVectors = kPanelColumns / kLanes;
  constexpr int kVectors = kPanelVectors * kPanels;
  constexpr int kUnrolled = 4;
  const std::byte* left = tile.left;
  const std::byte* next = tile.next;
  const std::byte* right[kPanels];
  for (int p = 0; p < kPanels; ++p)
    right[p] = tile.right + p * tile.rightStride;
  float* __restrict c = tile.c;
  const std::ptrdiff_t stride = tile.stride;
  auto cAt = [&](int row, int v) __attribute__((always_inline)) {
    return c + row * stride + v * kLanes;
  };

  F32 sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v)
      sums[i][v] = tile.startFromC ? load<F32>(cAt(i, v)) : F32{};
  for (std::int64_t n = tile.groups * (Dot::kGroupSteps / kUnrolled); n > 0; --n) {
    for (int line = 0; line < kUnrolled * kRows * 4; line += 64)
      __builtin_prefetch(next + line);
#pragma unroll
    for (int s = 0; s < kUnrolled; ++s) {
      F32 b[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        b[v] =
            load<F32>(right[v / kPanelVectors] + s * kStepBytes + v % kPanelVectors * kVectorBytes);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const F32 a = (F32)broadcast(left + (s * kRows + i) * 4);
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] = Dot::step(sums[i][v], b[v], a);
      }
    }
    left += kUnrolled * kRows * 4;
    next += kUnrolled * kRows * 4;
    for (int p = 0; p < kPanels; ++p)
      right[p] += kUnrolled * kStepBytes;
  }
  for (int v = 0; v < kVectors; ++v) {
    const F32 column = tile.rowFactors ? load<F32>(tile.columnFactors + v * kLanes) : F32{};
    for (int i = 0; i < kRows; ++i) {
      F32 sum = sums[i][v];
      if (tile.rowFactors)
        sum *= splat(tile.rowFactors[i]) * column;
      if (tile.addToC)
        sum += load<F32>(cAt(i, v));
      store(cAt(i, v), sum);
    }
  }
}

/// The value of byte `byte` of each dword of codes.
struct FloatDecode {
  U32 bias, subnormals, special;
  F32 quantum;
  std::uint32_t shift;
  explicit OCTAVO_INLINE FloatDecode(const FloatFormat& format)
      : bias(splat(format.bias)), subnormals(splat(format.subnormals)),
        special(splat(format.special)), quantum(splat(format.quantum)), shift(format.shift) {}
  OCTAVO_INLINE F32 operator()(U32 codes, int byte) const {
    const U32 code = codes >> (8 * byte);
    const U32 magnitude = code & 0x7F;
    const U32 normal = (magnitude << shift) + bias;
    const U32 subnormal = bits(__builtin_convertvector((I32)magnitude, F32) * quantum);
    // All exponent bits: infinity keeps its zero significand, a NaN its other one.
    const U32 specials = ~above(special, magnitude) & 0x7F800000;
    return floats(select(above(subnormals, magnitude), subnormal, normal) | specials |
                  (code & 0x80) << 24);
  }
};

/// i % lanes for lanes of up to 6 and i below a multiple of 6, 4, 2, 1 and of every vector's lanes.
struct LaneIndices {
  static constexpr int kLength = 48;
  std::uint32_t of[7][kLength] = {};
  constexpr LaneIndices() {
    for (std::uint32_t lanes = 1; lanes < 7; ++lanes)
      for (std::uint32_t i = 0; i < kLength; ++i)
        of[lanes][i] = i % lanes;
  }
};
inline constexpr LaneIndices kLaneIndices{};

/// Scales of `lanes` lanes, 16 or at most 6, for vectors whose lanes repeat them.
struct ScalePattern {
  int lanes;
  const std::uint32_t* index;

  explicit OCTAVO_INLINE ScalePattern(int lanes)
      : lanes(lanes), index(kLaneIndices.of[lanes == kPanelColumns ? 0 : lanes]) {}
  /// Of the vector that begins with dword `at` of a group. May read 32 bytes from `scales` on.
  OCTAVO_INLINE F32 at(const float* scales, int at) const {
    if (lanes == kPanelColumns)
      return load<F32>(scales + at % kPanelColumns);
    return pick(scales, load<U32>(index + at % LaneIndices::kLength));
  }
};

/// Multiply-adds. A product of two narrow values is exact in f32, so that a set without a fused
/// operation has the same bits.
struct MultiplyAdd {
  static constexpr int kGroupSteps = 32;
  FloatDecode decode;

  explicit OCTAVO_INLINE MultiplyAdd(const FloatFormat& format) : decode(format) {}
  /// The sum of one group's products of kLanes columns, whose dwords of codes are kStepBytes apart:
  /// a sum for each byte, added pairwise.
  OCTAVO_INLINE F32 group(const std::byte* left, const std::uint8_t* codes) const {
    F32 sums[4] = {};
#pragma clang loop unroll(disable)
    for (int s = 0; s < 8; ++s) {
      const U32 four = load<U32>(codes + s * kStepBytes);
#pragma unroll
      for (int byte = 0; byte < 4; ++byte)
        sums[byte] =
            multiplyAdd(sums[byte], decode(four, byte), (F32)broadcast(left + 4 * (8 * byte + s)));
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  static OCTAVO_INLINE F32 step(F32 sum, F32 b, F32 a) { return multiplyAdd(sum, b, a); }

  static void expand(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                     int lanes, std::int64_t groups, std::byte* out) {
    const FloatDecode decode(format);
    const ScalePattern pattern(lanes);
    const int dwords = 8 * lanes;
    for (std::int64_t g = 0; g < groups; ++g) {
      if (kLanes <= 8 || dwords >= kLanes) {
        for (int at = 0; at < dwords; at += kLanes) {
          const U32 four = load<U32>(codes + 4 * at);
          const F32 scale = pattern.at(scales, at);
          for (int byte = 0; byte < 4; ++byte)
            store(out + 4 * (byte * dwords + at), decode(four, byte) * scale);
        }
      } else if constexpr (kLanes > 8) { // one lane fills half a vector
        U32 four{};
        __builtin_memcpy(&four, codes, 32);
        for (int byte = 0; byte < 4; ++byte) {
          const F32 values = decode(four, byte) * pattern.at(scales, 0);
          __builtin_memcpy(out + 32 * byte, &values, 32);
        }
      }
      codes += 4 * dwords;
      scales += lanes;
      out += 16 * dwords;
    }
  }
};

/// Group by group: its products are summed from 0, multiplied by the scale and added. Scaling sums
/// and not elements saves half of the instructions, and with one row nothing else would pay for
/// them. One panel at a time: two and four streams from memory were slower (of 36 GB/s, 26 and 23
/// against 30).
template <typename Dot> void floatDirect(const FloatDirectArguments& direct) {
  constexpr int kPanelVectors = kPanelColumns / kLanes;
  const Dot dot(*direct.format);
  F32 sums[kPanelVectors] = {};
  const std::byte* left = direct.left;
  const std::uint8_t* codes = direct.codes;
  const float* scales = direct.scales;
  for (std::int64_t g = 0; g < direct.groups; ++g) {
    for (int v = 0; v < kPanelVectors; ++v)
      sums[v] += dot.group(left, codes + v * kVectorBytes) * load<F32>(scales + v * kLanes);
    left += 4 * Dot::kGroupSteps;
    codes += kPanelColumns * kGroup;
    scales += kPanelColumns;
  }
  for (int v = 0; v < kPanelVectors; ++v)
    store(direct.sums + v * kLanes, sums[v]);
}

template <typename Dot> constexpr FloatKernels floatTable(Isa isa, bool bf16, int panels) {
  constexpr int kPanels = kPanelsOfTile;
  FloatKernels table{};
  table.isa = isa;
  table.bf16 = bf16;
  table.groupSteps = Dot::kGroupSteps;
  table.tallest = kFloatTallest;
  table.panels = panels;
  table.expand = Dot::expand;
  table.direct = floatDirect<Dot>;
  if constexpr (kFloatTallest >= 6) {
    table.tiles[0][0] = floatTile<Dot, 6, 1>;
    table.tiles[0][1] = floatTile<Dot, 6, kPanels>;
  }
  table.tiles[1][0] = floatTile<Dot, 4, 1>;
  table.tiles[1][1] = floatTile<Dot, 4, kPanels>;
  table.tiles[2][0] = floatTile<Dot, 2, 1>;
  table.tiles[2][1] = floatTile<Dot, 2, kPanels>;
  table.tiles[3][0] = floatTile<Dot, 1, 1>;
  table.tiles[3][1] = floatTile<Dot, 1, kPanels>;
  return table;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
