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

/// A vector of codes, one a byte: the form for every set.
struct FloatDecode {
  static constexpr bool kHalves = false;
  static constexpr int kAtOnce = 1; ///< vectors of values
  static constexpr int kCodeBytes = 1;
  U32 bias, subnormals, special;
  F32 quantum;
  std::uint32_t shift;
  explicit OCTAVO_INLINE FloatDecode(const FloatFormat& format)
      : bias(splat(format.bias)), subnormals(splat(format.subnormals)),
        special(splat(format.special)), quantum(splat(format.quantum)), shift(format.shift) {}
  OCTAVO_INLINE void operator()(const std::uint8_t* codes, F32 (&values)[kAtOnce]) const {
    using Bytes = VectorOf<std::uint8_t, kLanes>;
    const U32 code = __builtin_convertvector(load<Bytes>(codes), U32);
    const U32 magnitude = code & 0x7F;
    const U32 normal = (magnitude << shift) + bias;
    const U32 subnormal = bits(__builtin_convertvector((I32)magnitude, F32) * quantum);
    // All exponent bits: infinity keeps its zero significand, a NaN its other one.
    const U32 specials = ~above(special, magnitude) & 0x7F800000;
    values[0] = floats(select(above(subnormals, magnitude), subnormal, normal) | specials |
                       (code & 0x80) << 24);
  }
};

/// Values that were decoded when they were packed.
struct LoadedValues {
  static constexpr int kAtOnce = 1;
  static constexpr int kCodeBytes = 4;
  explicit OCTAVO_INLINE LoadedValues(const FloatFormat&) {}
  OCTAVO_INLINE void operator()(const std::uint8_t* codes, F32 (&values)[kAtOnce]) const {
    values[0] = load<F32>(codes);
  }
};

/// The scales of kCount interleaved rows, 16 or at most 6, as the vectors whose lanes repeat them.
template <int kCount> struct ScalePattern {
  static constexpr int period() {
    int vectors = 1;
    while (vectors * kLanes % kCount != 0)
      ++vectors;
    return vectors;
  }
  static constexpr int kPeriod = period();
  F32 vectors[kPeriod];

  /// May read 32 bytes from `scales` on.
  explicit OCTAVO_INLINE ScalePattern(const float* scales) {
#pragma unroll
    for (int v = 0; v < kPeriod; ++v)
      if constexpr (kCount == kPanelColumns) {
        vectors[v] = load<F32>(scales + v * kLanes);
      } else {
        U32 index;
        for (int i = 0; i < kLanes; ++i)
          index[i] = static_cast<std::uint32_t>((v * kLanes + i) % kCount);
        vectors[v] = pick(scales, index);
      }
  }
  /// Of the vector number `v` of a group.
  OCTAVO_INLINE F32 at(int v) const { return vectors[v % kPeriod]; }
};

/// Calls expand.template operator()<lanes>().
template <typename Expand> OCTAVO_INLINE void forLanes(int lanes, Expand expand) {
  switch (lanes) {
  case kPanelColumns:
    return expand.template operator()<kPanelColumns>();
  case 6:
    return expand.template operator()<6>();
  case 4:
    return expand.template operator()<4>();
  case 2:
    return expand.template operator()<2>();
  default:
    return expand.template operator()<1>();
  }
}

/// Multiply-adds. A product of two narrow values is exact in f32, so that a set without a fused
/// operation has the same bits.
template <typename Decode> struct MultiplyAdd {
  static constexpr int kGroupSteps = 32;
  static constexpr int kGroupBytes = kGroup * kPanelColumns * Decode::kCodeBytes;
  static constexpr bool kHalves = Decode::kHalves;
  Decode decode;

  explicit OCTAVO_INLINE MultiplyAdd(const FloatFormat& format) : decode(format) {}

  /// The sums of one group's products of a panel: of even k and of odd k.
  OCTAVO_INLINE void group(const std::byte* left, const std::uint8_t* codes,
                           F32 (&sums)[kPanelColumns / kLanes]) const {
    constexpr int kVectors = kPanelColumns / kLanes;
    constexpr int kChains = 2; // of more the compiler spills; decoding takes longer than two
    F32 chains[kChains][kVectors] = {};
#pragma clang loop unroll(disable)
    for (int k = 0; k < kGroup; k += kChains)
#pragma unroll
      for (int at = 0; at < kChains * kVectors; at += Decode::kAtOnce) {
        F32 values[Decode::kAtOnce];
        decode(codes + (k * kVectors + at) * kLanes * Decode::kCodeBytes, values);
#pragma unroll
        for (int i = 0; i < Decode::kAtOnce; ++i) {
          const int chain = (at + i) / kVectors;
          F32& sum = chains[chain][(at + i) % kVectors];
          sum = multiplyAdd(sum, values[i], (F32)broadcast(left + 4 * (k + chain)));
        }
      }
    for (int v = 0; v < kVectors; ++v)
      sums[v] = chains[0][v] + chains[1][v];
  }

  static OCTAVO_INLINE F32 step(F32 sum, F32 b, F32 a) { return multiplyAdd(sum, b, a); }

  static void expand(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                     int lanes, std::int64_t groups, std::byte* out) {
    const Decode decode(format);
    forLanes(lanes, [&]<int kCount>() {
      constexpr int kVectors = kGroup * kCount / kLanes;
      // A whole number of patterns and of decodings.
      constexpr int kUnrolled = ScalePattern<kCount>::kPeriod * Decode::kAtOnce;
      for (std::int64_t g = 0; g < groups; ++g) {
        const ScalePattern<kCount> pattern(scales);
        for (int first = 0; first < kVectors; first += kUnrolled) {
#pragma unroll
          for (int at = 0; at < kUnrolled && at < kVectors; at += Decode::kAtOnce) {
            F32 decoded[Decode::kAtOnce];
            decode(codes + (first + at) * kLanes, decoded);
#pragma unroll
            for (int i = 0; i < Decode::kAtOnce; ++i)
              store(out + 4 * (first + at + i) * kLanes, decoded[i] * pattern.at(at + i));
          }
        }
        codes += kGroup * kCount;
        scales += kCount;
        out += 4 * kGroup * kCount;
      }
    });
  }
};

/// Group by group: its products are summed from 0, multiplied by the scale and added. Scaling sums
/// and not elements saves half of the instructions, and with one row nothing else would pay for
/// them. One panel at a time: two and four streams from memory were slower (of 36 GB/s, 26 and 23
/// against 30).
template <typename Dot, bool kScales> void floatDirect(const FloatDirectArguments& direct) {
  constexpr int kPanelVectors = kPanelColumns / kLanes;
  const Dot dot(*direct.format);
  F32 sums[kPanelVectors] = {};
  const std::byte* left = direct.left;
  const std::uint8_t* codes = direct.codes;
  const float* scales = direct.scales;
  for (std::int64_t g = 0; g < direct.groups; ++g) {
    for (int line = 0; line < Dot::kGroupBytes; line += 64)
      __builtin_prefetch(codes + kPrefetchBytes + line);
    F32 group[kPanelVectors];
    dot.group(left, codes, group);
    for (int v = 0; v < kPanelVectors; ++v)
      if constexpr (kScales)
        sums[v] += group[v] * load<F32>(scales + v * kLanes);
      else
        sums[v] += group[v];
    left += 4 * Dot::kGroupSteps;
    codes += Dot::kGroupBytes;
    scales += kPanelColumns;
  }
  for (int v = 0; v < kPanelVectors; ++v)
    store(direct.sums + v * kLanes, sums[v]);
}

template <typename Dot> constexpr FloatKernels floatTable(Isa isa, FloatDot dot, int panels) {
  constexpr int kPanels = kPanelsOfTile;
  FloatKernels table{};
  table.isa = isa;
  table.dot = dot;
  table.decodesHalves = Dot::kHalves;
  table.groupSteps = Dot::kGroupSteps;
  table.tallest = kFloatTallest;
  table.panels = panels;
  table.expand = Dot::expand;
  table.direct = floatDirect<Dot, true>;
  if (dot == FloatDot::MultiplyAdds)
    table.directValues = floatDirect<MultiplyAdd<LoadedValues>, false>;
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
