// Products of floats: each element of C is one f32 sum over the steps of K in order, by
// multiply-adds or by VDPBF16PS on pairs. A set's file includes this after its ProductParts.h and a
// Dot, which defines kGroupSteps, kHalves, step, direct and expand.
#pragma once

#include "octavo/Kernels/Product/ProductKernels.h"
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
  auto cAt = [&](int row, int v)
                 __attribute__((always_inline)) { return c + row * stride + v * kLanes; };
  auto sumAt = [&](int row, int v) __attribute__((always_inline)) {
    return tile.sums + (row * kVectors + v) * kLanes;
  };

  const float* rowFactors = tile.rowFactors;
  const float* columnFactors = tile.columnFactors;
  for (std::int64_t done = 0; done < tile.groups; done += tile.groupsInSum) {
    const std::int64_t rest = tile.groups - done;
    const std::int64_t groups = rest < tile.groupsInSum ? rest : tile.groupsInSum;
    F32 sums[kRows][kVectors];
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectors; ++v)
        sums[i][v] = tile.startFromC ? load<F32>(cAt(i, v)) : F32{};
    for (std::int64_t n = groups * (Dot::kGroupSteps / kUnrolled); n > 0; --n) {
      for (int line = 0; line < kUnrolled * kRows * 4; line += 64)
        __builtin_prefetch(next + line);
#pragma unroll
      for (int s = 0; s < kUnrolled; ++s) {
        F32 b[kVectors];
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          b[v] = load<F32>(right[v / kPanelVectors] + s * kStepBytes +
                           v % kPanelVectors * kVectorBytes);
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
    if (rowFactors)
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const F32 row = splat(rowFactors[i]);
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] *= row * load<F32>(columnFactors + v * kLanes);
      }
    if (done != 0)
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] += load<F32>(sumAt(i, v));
    else if (tile.addToC)
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] += load<F32>(cAt(i, v));
    const bool isLast = groups == rest;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        store(isLast ? cAt(i, v) : sumAt(i, v), sums[i][v]);
    if (rowFactors) {
      rowFactors += tile.rowFactorStride;
      columnFactors += tile.columnFactorStride;
    }
  }
}

/// Decodes a vector of codes, one per byte: the generic form.
struct FloatDecode {
  static constexpr bool kHalves = false;
  static constexpr bool kStores = false; ///< what `get` reads are the codes
  static constexpr int kBytes = 1;       ///< of what `get` reads
  U32 bias, subnormals, special;
  F32 quantum;
  std::uint32_t shift;
  explicit OCTAVO_INLINE FloatDecode(const FloatFormat& format)
      : bias(splat(format.bias)), subnormals(splat(format.subnormals)),
        special(splat(format.special)), quantum(splat(format.quantum)), shift(format.shift) {}
  /// kLanes values.
  OCTAVO_INLINE F32 get(const std::byte* codes) const {
    using Bytes = VectorOf<std::uint8_t, kLanes>;
    const U32 code = __builtin_convertvector(load<Bytes>(codes), U32);
    const U32 magnitude = code & 0x7F;
    const U32 normal = (magnitude << shift) + bias;
    const U32 subnormal = bits(__builtin_convertvector((I32)magnitude, F32) * quantum);
    // All exponent bits: infinity keeps its zero significand, a NaN its other one.
    const U32 specials = ~above(special, magnitude) & 0x7F800000;
    return floats(select(above(subnormals, magnitude), subnormal, normal) | specials |
                  (code & 0x80) << 24);
  }
};

/// Values that were decoded at packing time.
struct LoadedValues {
  static constexpr bool kHalves = false;
  static constexpr bool kStores = false;
  static constexpr int kBytes = 4;
  explicit OCTAVO_INLINE LoadedValues(const FloatFormat&) {}
  OCTAVO_INLINE F32 get(const std::byte* values) const { return load<F32>(values); }
};

/// The scales of kCount interleaved rows, 16 or at most 8, as the vectors whose lanes repeat them.
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
  case 8:
    return expand.template operator()<8>();
  case 6:
    return expand.template operator()<6>();
  case 4:
    return expand.template operator()<4>();
  case 3:
    return expand.template operator()<3>();
  case 2:
    return expand.template operator()<2>();
  default:
    return expand.template operator()<1>();
  }
}

/// Rows of A that are multiplied in one pass over decoded values of B.
inline constexpr int kRowsOfPass = 4;

/// The Dot of multiply-adds. A product of two narrow values is exact in f32, so a set without fused
/// multiply-adds gives the same bits.
template <typename Decode> struct MultiplyAdd {
  static constexpr int kGroupSteps = 32;
  static constexpr int kDirectRows = kMostDirectRows;
  static constexpr bool kHalves = Decode::kHalves;
  static constexpr int kGroupBytes = kGroup * kPanelColumns * Decode::kBytes;
  static constexpr int kVectors = kPanelColumns / kLanes;
  static constexpr int kVectorOfValues = kLanes * Decode::kBytes;

  static OCTAVO_INLINE F32 step(F32 sum, F32 b, F32 a) { return multiplyAdd(sum, b, a); }

  /// Adds the products of kRows rows and a panel, kTogether groups at a time. In each group, one
  /// sum of even k and one of odd k start from 0; their sum is multiplied by the scale. Scaling
  /// sums instead of elements saves an operation per element, which few rows would not amortize.
  template <bool kScales, int kRows, int kTogether>
  static void rowsOfGroups(const Decode& decode, const std::byte* left, std::ptrdiff_t leftStride,
                           const std::byte* values, const float* scales, std::int64_t groups,
                           float* sums) {
    // Separate sums of even and odd k hide the latency with a few rows; with two groups at a time,
    // even with one row. More rows have no registers for both sums, and do not need them.
    constexpr int kChains = 2 * kTogether * kRows * kVectors;
    constexpr bool kInTurn = kChains > 12;
    constexpr int kUnrolled = kChains == 12 ? 1 : 2; // 2 would spill
    for (std::int64_t g = 0; g < groups; g += kTogether) {
      using Chain = F32[kTogether][kRows][kVectors];
      auto addStep = [&](Chain& chain, int k) __attribute__((always_inline)) {
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          F32 b[kVectors];
#pragma unroll
          for (int v = 0; v < kVectors; ++v) {
            b[v] = decode.get(values + t * kGroupBytes + (k * kVectors + v) * kVectorOfValues);
            pin(b[v]);
          }
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            F32 a = (F32)broadcast(left + i * leftStride + 4 * (t * kGroupSteps + k));
            pin(a);
#pragma unroll
            for (int v = 0; v < kVectors; ++v)
              chain[t][i][v] = step(chain[t][i][v], b[v], a);
          }
        }
      };
      Chain even = {}, odd = {};
      if constexpr (kInTurn) {
#pragma clang loop unroll_count(2)
        for (int k = 0; k < kGroup; k += 2)
          addStep(even, k);
#pragma clang loop unroll_count(2)
        for (int k = 1; k < kGroup; k += 2)
          addStep(odd, k);
      } else {
#pragma clang loop unroll_count(kUnrolled)
        for (int k = 0; k < kGroup; k += 2) {
          addStep(even, k);
          addStep(odd, k + 1);
        }
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t)
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
          for (int v = 0; v < kVectors; ++v) {
            float* sum = sums + i * kPanelColumns + v * kLanes;
            F32 term = even[t][i][v] + odd[t][i][v];
            if constexpr (kScales)
              term *= load<F32>(scales + t * kPanelColumns + v * kLanes);
            store(sum, load<F32>(sum) + term);
          }
      left += kTogether * 4 * kGroupSteps;
      values += kTogether * kGroupBytes;
      if constexpr (kScales) // otherwise there is no pointer to advance
        scales += kTogether * kPanelColumns;
    }
  }

  template <bool kScales, int kRows>
  static OCTAVO_INLINE void rows(const Decode& decode, const std::byte* left,
                                 std::ptrdiff_t leftStride, const std::byte* values,
                                 const float* scales, std::int64_t groups, float* sums) {
    constexpr int kTogether = kRows == 1 ? 2 : 1;
    const std::int64_t most = groups / kTogether * kTogether;
    rowsOfGroups<kScales, kRows, kTogether>(decode, left, leftStride, values, scales, most, sums);
    if (most < groups)
      rowsOfGroups<kScales, kRows, 1>(
          decode, left + most * 4 * kGroupSteps, leftStride, values + most * kGroupBytes,
          kScales ? scales + most * kPanelColumns : scales, groups - most, sums);
  }

  /// One panel at a time. Two and four streams from memory were slower: 26 and 23 GB/s instead of
  /// 30, where memory gives 36.
  template <bool kScales> static void direct(const FloatDirectArguments& panel) {
    constexpr int kGroups = 8; // decoded at once: 8 KiB, with 8 KiB of the left rows
    constexpr int kCodes = kGroup * kPanelColumns;
    constexpr int kCodeBytes = Decode::kStores ? 1 : Decode::kBytes;
    alignas(64) std::byte stored[Decode::kStores ? kGroups * kGroupBytes : 1];
    const Decode decode(*panel.format);
    for (int i = 0; i < panel.rows * kPanelColumns; ++i)
      panel.sums[i] = 0;
    for (std::int64_t first = 0; first < panel.groups; first += kGroups) {
      const std::int64_t rest = panel.groups - first, groups = rest < kGroups ? rest : kGroups;
      const std::uint8_t* codes = panel.codes + first * kCodes * kCodeBytes;
      const std::byte* values =
          Decode::kStores ? stored : reinterpret_cast<const std::byte*>(codes);
      for (std::int64_t g = 0; g < groups; ++g, codes += kCodes * kCodeBytes) {
        for (int line = 0; line < kCodes * kCodeBytes; line += 64)
          prefetchLevel2(codes + line);
        if constexpr (Decode::kStores)
          decode.put(codes, kCodes, stored + g * kGroupBytes);
      }
      const float* scales = kScales ? panel.scales + first * kPanelColumns : nullptr;
      for (int row = 0; row < panel.rows; row += kRowsOfPass) {
        const std::byte* left = panel.left + row * panel.leftStride + first * 4 * kGroupSteps;
        float* sums = panel.sums + row * kPanelColumns;
        switch (panel.rows - row) {
        case 1:
          rows<kScales, 1>(decode, left, panel.leftStride, values, scales, groups, sums);
          break;
        case 2:
          rows<kScales, 2>(decode, left, panel.leftStride, values, scales, groups, sums);
          break;
        case 3:
          rows<kScales, 3>(decode, left, panel.leftStride, values, scales, groups, sums);
          break;
        default:
          rows<kScales, 4>(decode, left, panel.leftStride, values, scales, groups, sums);
        }
      }
    }
  }

  static void expand(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                     int lanes, std::int64_t groups, std::byte* out) {
    const Decode decode(format);
    forLanes(lanes, [&]<int kCount>() {
      constexpr int kVectorsOfGroup = kGroup * kCount / kLanes;
      constexpr int kPeriod = ScalePattern<kCount>::kPeriod;
      // Several at once: otherwise loads would wait for the values just stored.
      constexpr std::int64_t kGroups = 4;
      constexpr int kCodes = kGroup * kCount;
      alignas(64) std::byte stored[Decode::kStores ? kGroups * kCodes * Decode::kBytes : 1];
      for (std::int64_t first = 0; first < groups; first += kGroups) {
        const std::int64_t rest = groups - first, some = rest < kGroups ? rest : kGroups;
        const std::byte* values = reinterpret_cast<const std::byte*>(codes);
        if constexpr (Decode::kStores) {
          decode.put(codes, static_cast<int>(some) * kCodes, stored);
          values = stored;
        }
        codes += some * kCodes;
        for (std::int64_t g = 0; g < some; ++g) {
          const ScalePattern<kCount> pattern(scales);
#pragma clang loop unroll_count(4)
          for (int at = 0; at < kVectorsOfGroup; at += kPeriod)
#pragma unroll
            for (int i = 0; i < kPeriod; ++i)
              if (at + i < kVectorsOfGroup)
                store(out + 4 * (at + i) * kLanes,
                      decode.get(values + (at + i) * kLanes * Decode::kBytes) * pattern.at(i));
          values += kCodes * Decode::kBytes;
          scales += kCount;
          out += 4 * kCodes;
        }
      }
    });
  }
};

template <typename Dot, int kHeight> constexpr void addFloatTile(FloatKernels& table) {
  table.tiles[heightIndex(kHeight)][0] = floatTile<Dot, kHeight, 1>;
  table.tiles[heightIndex(kHeight)][1] = floatTile<Dot, kHeight, kPanelsOfTile>;
}

template <typename Dot> constexpr FloatKernels floatTable(Isa isa, FloatDot dot, int panels) {
  FloatKernels table{};
  table.isa = isa;
  table.dot = dot;
  table.decodesHalves = Dot::kHalves;
  table.groupSteps = Dot::kGroupSteps;
  table.tallest = kFloatTallest;
  table.panels = panels;
  table.expand = Dot::expand;
  table.direct = Dot::template direct<true>;
  table.directRows = Dot::kDirectRows;
  if (dot == FloatDot::MultiplyAdds)
    table.directValues = MultiplyAdd<LoadedValues>::direct<false>;
  if constexpr (kFloatTallest >= 8)
    addFloatTile<Dot, 8>(table);
  if constexpr (kFloatTallest >= 6)
    addFloatTile<Dot, 6>(table);
  addFloatTile<Dot, 4>(table);
  addFloatTile<Dot, 3>(table);
  addFloatTile<Dot, 2>(table);
  addFloatTile<Dot, 1>(table);
  return table;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
