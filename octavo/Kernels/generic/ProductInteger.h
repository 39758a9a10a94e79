// Exact integer products: a piece of K is summed in integers, scaled and rounded to f32 once, and
// added in f32, piece after piece. A set's ProductParts.h defines the dot products (BytesDot,
// BytesInPairsDot, WordsDot), broadcast, kTallest, kPanelsOfTile, kSumsInRegisters and NibbleTable.
#pragma once

#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Interleave.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

inline constexpr int kVectorsOfPanel = kPanelColumns / kLanes;

OCTAVO_INLINE F32 toFloats(I32 x) { return __builtin_convertvector(x, F32); }

OCTAVO_INLINE std::uint32_t loadWord(const std::byte* from) {
  std::uint32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

/// Broadcasts a dword to every lane.
OCTAVO_INLINE U32 words(const std::byte* from) { return (U32)broadcast(from); }

/// Finish::Exponents. The product of two powers of two is a sum of exponents, which integer adders
/// compute: the dot products need the ports that multiply.
struct FinishByExponents {
  U32 bias;
  explicit OCTAVO_INLINE FinishByExponents(std::int32_t quantum)
      : bias(splat(static_cast<std::uint32_t>(quantum - 127) << 23)) {}
  OCTAVO_INLINE U32 withQuantum(U32 scale) const { return scale + bias; }
  OCTAVO_INLINE F32 product(U32 row, U32 column) const { return floats(row + column); }
  /// An exact term may be added by a fused multiply-add: only the sum is rounded.
  static OCTAVO_INLINE F32 add(F32 sum, I32 exact, F32 scale) {
    return multiplyAdd(sum, scale, toFloats(exact));
  }
};

struct FinishByFloats {
  F32 unit;
  explicit OCTAVO_INLINE FinishByFloats(std::int32_t quantum)
      : unit(floats(splat(static_cast<std::uint32_t>(quantum + 127) << 23))) {}
  OCTAVO_INLINE U32 withQuantum(U32 scale) const { return bits(floats(scale) * unit); }
  OCTAVO_INLINE F32 product(U32 row, U32 column) const { return floats(row) * floats(column); }
  static OCTAVO_INLINE F32 add(F32 sum, I32 exact, F32 scale) {
    return multiplyAdd(sum, scale, toFloats(exact));
  }
};

struct FinishByRounding : FinishByFloats {
  using FinishByFloats::FinishByFloats;
  static OCTAVO_INLINE F32 add(F32 sum, I32 exact, F32 scale) {
    const F32 term = toFloats(exact) * scale;
    return sum + term;
  }
};

/// kRows rows by kPanels panels. A record of the left operand: kSteps * kRows dwords of elements,
/// kRows corrections, kRows scales; of the right: kSteps * 64 bytes of elements, 16 scales.
///
/// If registers suffice, the sums of C stay in them. Otherwise they are added to C in memory, which
/// costs a load and a store for every kSteps products and leaves the registers to the integers.
template <typename Dot, typename FinishBy, int kSteps, int kRows, int kPanels>
void integerTile(const TileArguments& tile) {
  constexpr int kVectors = kVectorsOfPanel * kPanels;
  constexpr int kLeftRecord = (kSteps + 2) * kRows * 4;
  constexpr int kRightRecord = (kSteps + 1) * kStepBytes;
  constexpr bool kKeepSums = kSumsInRegisters || kRows * kPanels <= 2;
  const FinishBy finish(tile.quantum);
  const std::byte* left = tile.left;
  const std::byte* next = tile.next;
  const std::byte* right[kPanels];
  for (int p = 0; p < kPanels; ++p)
    right[p] = tile.right + p * tile.rightStride;
  auto rightAt = [&](int step, int v) __attribute__((always_inline)) {
    return right[v / kVectorsOfPanel] + step * kStepBytes + v % kVectorsOfPanel * kVectorBytes;
  };
  float* __restrict c = tile.c;
  const std::ptrdiff_t stride = tile.stride;
  auto cAt = [&](int row, int v)
                 __attribute__((always_inline)) { return c + row * stride + v * kLanes; };

  F32 sums[kRows][kVectors];
  if constexpr (kKeepSums)
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectors; ++v)
        sums[i][v] = tile.fresh ? F32{} : load<F32>(cAt(i, v));
  if constexpr (!kKeepSums)
    if (tile.fresh)
      for (int i = 0; i < kRows; ++i)
        for (int v = 0; v < kVectors; ++v)
          store(cAt(i, v), F32{});

  for (std::int64_t r = 0; r < tile.records; ++r) {
    const std::byte* corrections = left + kSteps * kRows * 4;
    for (int line = 0; line < kLeftRecord; line += 64)
      __builtin_prefetch(next + line);
    typename Dot::Sum dot[kRows][kVectors];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        dot[i][v] = Dot::begin(loadWord(corrections + 4 * i));
#pragma unroll
    for (int s = 0; s < kSteps; s += Dot::kAtOnce) {
      U8 b[kVectors][Dot::kAtOnce];
      auto column = [&](int v) __attribute__((always_inline)) {
        for (int t = 0; t < Dot::kAtOnce; ++t)
          b[v][t] = load<U8>(rightAt(s + t, v));
      };
      U8 a[Dot::kAtOnce];
      auto row = [&](int i) __attribute__((always_inline)) {
        for (int t = 0; t < Dot::kAtOnce; ++t)
          a[t] = Dot::row(left + ((s + t) * kRows + i) * 4);
      };
      auto step = [&](int i, int v) __attribute__((always_inline)) {
        Dot::step(dot[i][v], b[v], a);
        pin(dot[i][v]);
      };
      // One step at a time: rows outside, so that a row is broadcast once. Two: columns outside,
      // for there are not registers for both columns' two steps.
      if constexpr (Dot::kAtOnce == 1) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          row(i);
#pragma unroll
          for (int v = 0; v < kVectors; ++v) {
            if (i == 0)
              column(v);
            step(i, v);
          }
        }
      } else {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          column(v);
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            row(i);
            step(i, v);
          }
        }
      }
    }
    U32 columnScales[kVectors];
    auto columnScale = [&](int v) __attribute__((always_inline)) {
      columnScales[v] = finish.withQuantum(load<U32>(rightAt(kSteps, v)));
      pinScale(columnScales[v]);
    };
    U32 correction, rowScale;
    auto rowEnd = [&](int i) __attribute__((always_inline)) {
      correction = words(corrections + 4 * i);
      rowScale = words(corrections + 4 * (kRows + i));
      pin(correction);
      pin(rowScale);
    };
    auto addTerms = [&](int i, int v) __attribute__((always_inline)) {
      const I32 exact = Dot::end(dot[i][v], correction);
      const F32 scale = finish.product(rowScale, columnScales[v]);
      if constexpr (kKeepSums)
        sums[i][v] = finish.add(sums[i][v], exact, scale);
      else
        store(cAt(i, v), finish.add(load<F32>(cAt(i, v)), exact, scale));
    };
    // Rows are the outer loop again if loads are the limit; columns if registers are.
    if constexpr (kKeepSums) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        columnScale(v);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          rowEnd(i);
          addTerms(i, v);
        }
      }
    } else {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        columnScale(v);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        rowEnd(i);
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          addTerms(i, v);
      }
    }
    left += kLeftRecord;
    next += kLeftRecord;
    for (int p = 0; p < kPanels; ++p)
      right[p] += kRightRecord;
  }
  if constexpr (kKeepSums)
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectors; ++v)
        store(cAt(i, v), sums[i][v]);
}

/// The terms of one row of a panel, through f64 as numerics::dot says: any scales, sums of any
/// number of records.
inline __attribute__((noinline)) void addByDoubles(const std::int32_t* exact, float rowScale,
                                                   const float* scales, double unit, float* c) {
  for (int n = 0; n < kPanelColumns; ++n)
    c[n] += static_cast<float>(exact[n] * unit *
                               (static_cast<double>(rowScale) * static_cast<double>(scales[n])));
}

/// Finish::Doubles. Each record's correction is added at once, so sums of several records need no
/// further correction.
template <typename Dot, int kSteps, int kRows>
void integerTileByDoubles(const TileArguments& tile) {
  constexpr int kLeftRecord = (kSteps + 2) * kRows * 4;
  constexpr int kRightRecord = (kSteps + 1) * kStepBytes;
  const double unit =
      __builtin_bit_cast(double, static_cast<std::uint64_t>(tile.quantum + 1023) << 52);
  const std::byte* left = tile.left;
  const std::byte* right = tile.right;
  if (tile.fresh)
    for (int i = 0; i < kRows; ++i)
      for (int n = 0; n < kPanelColumns; ++n)
        tile.c[i * tile.stride + n] = 0;
  for (std::int64_t first = 0; first < tile.records; first += tile.recordsInSum) {
    std::int64_t rest = tile.records - first;
    rest = rest < tile.recordsInSum ? rest : tile.recordsInSum;
    alignas(kVectorBytes) std::int32_t exact[kRows][kPanelColumns] = {};
    float scales[kPanelColumns];
    float rowScales[kRows];
    __builtin_memcpy(scales, right + kSteps * kStepBytes, sizeof scales);
    __builtin_memcpy(rowScales, left + (kSteps + 1) * kRows * 4, sizeof rowScales);
    for (; rest > 0; --rest, left += kLeftRecord, right += kRightRecord)
      for (int i = 0; i < kRows; ++i) {
        const std::uint32_t correction = loadWord(left + (kSteps * kRows + i) * 4);
        for (int v = 0; v < kVectorsOfPanel; ++v) {
          typename Dot::Sum dot = Dot::begin(correction);
          for (int s = 0; s < kSteps; s += Dot::kAtOnce) {
            U8 a[Dot::kAtOnce], b[Dot::kAtOnce];
            for (int t = 0; t < Dot::kAtOnce; ++t) {
              a[t] = Dot::row(left + ((s + t) * kRows + i) * 4);
              b[t] = load<U8>(right + (s + t) * kStepBytes + v * kVectorBytes);
            }
            Dot::step(dot, b, a);
          }
          std::int32_t* to = exact[i] + v * kLanes;
          store(to, load<I32>(to) + Dot::end(dot, splat(correction)));
        }
      }
    for (int i = 0; i < kRows; ++i)
      addByDoubles(exact[i], rowScales[i], scales, unit, tile.c + i * tile.stride);
  }
}

/// kLanes scale codes as f32 bits, times 2^-scaleShift. E8M0 codes 0 and 255 do not occur here.
template <ScaleCodes kCodes> constexpr int scaleShift() {
  return kCodes == ScaleCodes::E4M3 ? 8 : 0;
}
/// kCount E4M3 codes with their fields moved to those of f16, whose bias is greater by 8.
template <int kCount>
OCTAVO_INLINE VectorOf<std::int16_t, kCount> halvesOfE4M3(const std::uint8_t* codes) {
  using Words = VectorOf<std::int16_t, kCount>;
  const Words c = __builtin_convertvector(load<VectorOf<std::int8_t, kCount>>(codes), Words);
  // The sign is there twice, once too far down.
  return (c << 7) & static_cast<std::int16_t>(0xBFFF);
}
template <ScaleCodes kCodes> OCTAVO_INLINE U32 decodeScales(const std::uint8_t* codes) {
  if constexpr (kCodes == ScaleCodes::E8M0) {
    using Bytes = VectorOf<std::uint8_t, kLanes>;
    return __builtin_convertvector(load<Bytes>(codes), U32) << 23;
  } else {
    return bits(halvesToFloats(halvesOfE4M3<kLanes>(codes)));
  }
}

/// The result of decodeScales as f32.
template <ScaleCodes kCodes> OCTAVO_INLINE F32 unshifted(U32 scales) {
  return floats(scales) * splat(static_cast<float>(1 << scaleShift<kCodes>()));
}

/// Decodes the scales of `count` pieces of a panel by decodeScales.
template <ScaleCodes kCodes, int kMost> struct PieceScales {
  const std::uint8_t* codes;
  OCTAVO_INLINE PieceScales(const std::uint8_t* codes, std::int64_t) : codes(codes) {}
  OCTAVO_INLINE U32 at(std::int64_t piece, int v) const {
    return decodeScales<kCodes>(codes + piece * kPanelColumns + v * kLanes);
  }
};
/// E4M3 by way of memory: twice as many lanes become halves at once, and a conversion of halves
/// that lie there is cheaper (AVX2: one operation, not two).
template <int kMost> struct PieceScales<ScaleCodes::E4M3, kMost> {
  alignas(64) std::int16_t halves[kMost * kPanelColumns];
  OCTAVO_INLINE PieceScales(const std::uint8_t* codes, std::int64_t count) {
    for (std::int64_t i = 0; i < count * kPanelColumns; i += kPanelColumns)
      store(halves + i, halvesOfE4M3<kPanelColumns>(codes + i));
  }
  OCTAVO_INLINE U32 at(std::int64_t piece, int v) const {
    return bits(halvesToFloats(
        load<VectorOf<std::int16_t, kLanes>>(halves + piece * kPanelColumns + v * kLanes)));
  }
};

/// One panel and kRows rows from 4-bit storage: vector j of a group has, in byte i of dword c, the
/// codes of column c at K = 4j + i (low bits) and 16 + 4j + i (high bits). As integerTile, columns
/// decoded on the way; kExpands: and put as records, for tiles of further rows.
template <typename Dot, int kPieces, ScaleCodes kCodes, typename FinishBy, int kRows, bool kExpands>
void integerDirect(const DirectArguments& panel) {
  constexpr std::int64_t kGroups = 16;
  constexpr int kSteps = 8 / kPieces;
  constexpr int kLeftRecord = (kSteps + 2) * kRows * 4;
  constexpr int kRightRecord = (kSteps + 1) * kStepBytes;
  constexpr bool kKeepSums = kSumsInRegisters || kRows == 1;
  // One row on AVX-512 is bound by memory.
  constexpr bool kWaitsForMemory = kRows == 1 && kVectorsOfPanel == 1;
  const FinishBy finish(panel.quantum + scaleShift<kCodes>());
  const NibbleTable table;
  const std::byte* left = panel.left;
  const std::uint8_t* elements = panel.elements;
  std::byte* records = panel.records;
  float* __restrict c = panel.c;
  const std::ptrdiff_t stride = panel.stride;
  auto cAt = [&](int row, int v)
                 __attribute__((always_inline)) { return c + row * stride + v * kLanes; };
  F32 sums[kRows][kVectorsOfPanel];
  if constexpr (kKeepSums)
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectorsOfPanel; ++v)
        sums[i][v] = load<F32>(cAt(i, v));
  for (std::int64_t first = 0; first < panel.groups; first += kGroups) {
    const std::int64_t rest = panel.groups - first, groups = rest < kGroups ? rest : kGroups;
    const PieceScales<kCodes, kGroups * kPieces> scales(
        panel.scales + first * kPieces * kPanelColumns, groups * kPieces);
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int line = 0; line < 4 * kStepBytes; line += 64)
        if constexpr (kWaitsForMemory)
          __builtin_prefetch(elements + kPrefetchBytes + line);
        else
          prefetchLevel2(elements + line);
      typename Dot::Sum dot[kRows][kVectorsOfPanel];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bool begins = kPieces == 2 || half == 0, ends = kPieces == 2 || half == 1;
        const int piece = kPieces == 2 ? half : 0, firstStep = kPieces == 2 ? 0 : 4 * half;
        const std::byte* record = left + piece * kLeftRecord;
        const std::byte* corrections = record + kSteps * kRows * 4;
        std::byte* to = records + piece * kRightRecord;
        if (begins)
#pragma unroll
          for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int v = 0; v < kVectorsOfPanel; ++v)
              dot[i][v] = Dot::begin(loadWord(corrections + 4 * i));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int step = firstStep + j;
          U8 weights[kVectorsOfPanel][1];
#pragma unroll
          for (int v = 0; v < kVectorsOfPanel; ++v) {
            const U8 codes = load<U8>(elements + j * kStepBytes + v * kVectorBytes);
            weights[v][0] = half == 0 ? table.low(codes) : table.high(codes);
            if constexpr (kExpands)
              store(to + step * kStepBytes + v * kVectorBytes, weights[v][0]);
          }
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            const U8 row[1] = {Dot::row(record + (step * kRows + i) * 4)};
#pragma unroll
            for (int v = 0; v < kVectorsOfPanel; ++v) {
              Dot::step(dot[i][v], weights[v], row);
              pin(dot[i][v]);
            }
          }
        }
        if (!ends)
          continue;
        U32 columns[kVectorsOfPanel];
#pragma unroll
        for (int v = 0; v < kVectorsOfPanel; ++v) {
          const U32 scale = scales.at(g * kPieces + piece, v);
          if constexpr (kExpands)
            store(to + kSteps * kStepBytes + v * kVectorBytes, unshifted<kCodes>(scale));
          columns[v] = finish.withQuantum(scale);
          pinScale(columns[v]);
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          U32 correction = words(corrections + 4 * i);
          U32 rowScale = words(corrections + 4 * (kRows + i));
          pin(correction);
          pin(rowScale);
#pragma unroll
          for (int v = 0; v < kVectorsOfPanel; ++v) {
            const I32 exact = Dot::end(dot[i][v], correction);
            const F32 scale = finish.product(rowScale, columns[v]);
            if constexpr (kKeepSums)
              sums[i][v] = finish.add(sums[i][v], exact, scale);
            else
              store(cAt(i, v), finish.add(load<F32>(cAt(i, v)), exact, scale));
          }
        }
      }
      left += kPieces * kLeftRecord;
      elements += 4 * kStepBytes;
      if constexpr (kExpands)
        records += kPieces * kRightRecord;
    }
  }
  if constexpr (kKeepSums)
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectorsOfPanel; ++v)
        store(cAt(i, v), sums[i][v]);
}

/// The exact sums of one panel and kRows rows of digits over a group; `sums` has a panel for each
/// piece, a row's `apart` after the one before, as `left` has its records. Half a group (a nibble
/// of each byte) at a time, for the whole panel: a digit is broadcast once, and the sums of a row's
/// columns and digits fit AVX2's registers.
template <int kPieces, int kRows>
OCTAVO_INLINE void sumDigits(const NibbleTable& table, const std::byte* left,
                             std::ptrdiff_t leftStride, const std::uint8_t* elements,
                             std::int32_t* sums, std::ptrdiff_t apart) {
  static_assert(kDigits == 3);
  constexpr int kSteps = 8 / kPieces;
  constexpr int kLeftRecord = (kSteps * kDigits + 2) * 4;
  // Digits whose sums of both halves fit: in 16 bits those of the greatest, which is at most 64.
  constexpr int kHeld = kSumsBytesIn16 ? 1 : kDigits;
  BytesDot::Sum held[kRows][kHeld][kVectorsOfPanel];
  U32 lesser[kRows][kVectorsOfPanel];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool begins = kPieces == 2 || half == 0, ends = kPieces == 2 || half == 1;
    const std::byte* digits = left + (kPieces == 2 ? half * kLeftRecord : half * 16 * kDigits);
    const std::byte* tail = left + (kPieces == 2 ? half : 0) * kLeftRecord + kSteps * kDigits * 4;
    std::uint32_t correction[kRows];
    BytesDot::Sum dot[kRows][kDigits][kVectorsOfPanel];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      correction[i] = begins ? loadWord(tail + i * leftStride) : 0;
#pragma unroll
      for (int d = 0; d < kDigits; ++d)
#pragma unroll
        for (int v = 0; v < kVectorsOfPanel; ++v)
          dot[i][d][v] = d < kHeld && !begins
                             ? held[i][d][v]
                             : BytesDot::begin(d == kDigits - 1 ? correction[i] : 0);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      U8 weights[kVectorsOfPanel][1];
#pragma unroll
      for (int v = 0; v < kVectorsOfPanel; ++v) {
        const U8 codes = load<U8>(elements + j * kStepBytes + v * kVectorBytes);
        weights[v][0] = half == 0 ? table.low(codes) : table.high(codes);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int d = 0; d < kDigits; ++d) {
          const U8 digit[1] = {broadcast(digits + i * leftStride + (j * kDigits + d) * 4)};
#pragma unroll
          for (int v = 0; v < kVectorsOfPanel; ++v) {
            BytesDot::step(dot[i][d][v], weights[v], digit);
            pin(dot[i][d][v]);
          }
        }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int v = 0; v < kVectorsOfPanel; ++v) {
        for (int d = 0; d < kHeld; ++d)
          held[i][d][v] = dot[i][d][v];
        if (kHeld == kDigits && !ends)
          continue;
        // Wraparound is harmless, and the correction goes to the last digit.
        const U32 two =
            BytesDot::end256(dot[i][1][v]) + (U32)BytesDot::end(dot[i][2][v], splat(correction[i]));
        lesser[i][v] = begins || kHeld == kDigits ? two : lesser[i][v] + two;
        pin(lesser[i][v]); // or AVX2's dot products of both halves are added at the end, and spill
        if (ends)
          store(sums + i * apart + (kPieces == 2 ? half * kPanelColumns : 0) + v * kLanes,
                ((U32)BytesDot::end(dot[i][0][v], U32{}) << 16) + lesser[i][v]);
      }
  }
}

/// One panel and kRows rows of f32 activations as digits, greatest first. The exact sums of some
/// groups at a time, then their terms: a sum and its term one after the other would be a chain so
/// long that the processor does not see the next group's beginning (AVX2: a fifth slower).
template <int kPieces, ScaleCodes kCodes, typename FinishBy, int kRows>
void integerDigits(const DirectArguments& panel) {
  constexpr std::int64_t kGroups = 16;
  constexpr int kSteps = 8 / kPieces;
  constexpr int kLeftRecord = (kSteps * kDigits + 2) * 4;
  constexpr std::ptrdiff_t kSumsOfRow = kGroups * kPieces * kPanelColumns;
  const FinishBy finish(panel.quantum + scaleShift<kCodes>());
  const NibbleTable table;
  const std::ptrdiff_t leftStride = panel.groups * kPieces * kLeftRecord;
  const std::byte* left = panel.left;
  const std::uint8_t* elements = panel.elements;
  F32 terms[kRows][kVectorsOfPanel];
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectorsOfPanel; ++v)
      terms[i][v] = load<F32>(panel.c + i * panel.stride + v * kLanes);
  alignas(64) std::int32_t sums[kRows * kSumsOfRow];
  for (std::int64_t first = 0; first < panel.groups; first += kGroups) {
    const std::int64_t rest = panel.groups - first, groups = rest < kGroups ? rest : kGroups;
    const std::byte* tail = left + kSteps * kDigits * 4;
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int line = 0; line < 4 * kStepBytes; line += 64)
        prefetchLevel2(elements + line);
      sumDigits<kPieces, kRows>(table, left, leftStride, elements,
                                sums + g * kPieces * kPanelColumns, kSumsOfRow);
      left += kPieces * kLeftRecord;
      elements += 4 * kStepBytes;
    }
    const PieceScales<kCodes, kGroups * kPieces> scales(
        panel.scales + first * kPieces * kPanelColumns, groups * kPieces);
    for (std::int64_t p = 0; p < groups * kPieces; ++p, tail += kLeftRecord)
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const U32 row = finish.withQuantum(words(tail + i * leftStride + 4));
        const std::int32_t* sumsOfPiece = sums + i * kSumsOfRow + p * kPanelColumns;
#pragma unroll
        for (int v = 0; v < kVectorsOfPanel; ++v)
          terms[i][v] = finish.add(terms[i][v], load<I32>(sumsOfPiece + v * kLanes),
                                   finish.product(row, scales.at(p, v)));
      }
  }
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectorsOfPanel; ++v)
      store(panel.c + i * panel.stride + v * kLanes, terms[i][v]);
}

/// ProductKernels::expand.
template <int kPieces, ScaleCodes kCodes>
void expandNibbles(const std::uint8_t* elements, const std::uint8_t* scales, std::int64_t groups,
                   std::byte* records) {
  constexpr int kHalf = 4 * kStepBytes + (kPieces == 2 ? kStepBytes : 0);
  const NibbleTable table;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int at = 0; at < 4 * kStepBytes; at += kVectorBytes) {
      const U8 codes = load<U8>(elements + at);
      store(records + at, table.low(codes));
      store(records + kHalf + at, table.high(codes));
    }
    std::byte* words = records + (8 / kPieces) * kStepBytes;
    for (int piece = 0; piece < kPieces; ++piece, words += kHalf)
      for (int v = 0; v < kVectorsOfPanel; ++v)
        store(words + v * kVectorBytes,
              unshifted<kCodes>(decodeScales<kCodes>(scales + piece * kPanelColumns + v * kLanes)));
    elements += 4 * kStepBytes;
    scales += kPieces * kPanelColumns;
    records += 8 * kStepBytes + kPieces * kStepBytes;
  }
}

/// ProductKernels::nibblesToFloats.
template <int kPieces, ScaleCodes kCodes>
void nibblesToFloats(const std::uint8_t* elements, const std::uint8_t* scales, std::int64_t groups,
                     float* out) {
  constexpr float kUnit = 1 << scaleShift<kCodes>();
  alignas(64) static constexpr float kValues[] = {
      0,  .5f * kUnit,  kUnit,  1.5f * kUnit,  2 * kUnit,  3 * kUnit,  4 * kUnit,  6 * kUnit,
      -0, -.5f * kUnit, -kUnit, -1.5f * kUnit, -2 * kUnit, -3 * kUnit, -4 * kUnit, -6 * kUnit};
  const NibbleFloats table(kValues);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int line = 0; line < 4 * kStepBytes; line += 64)
      prefetchLevel2(elements + line);
#pragma unroll
    for (int v = 0; v < kVectorsOfPanel; ++v) {
      F32 scale[kPieces];
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece)
        scale[piece] = floats(decodeScales<kCodes>(scales + piece * kPanelColumns + v * kLanes));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        F32 values[8];
        table.get(load<U32>(elements + j * kStepBytes + v * kVectorBytes), values);
#pragma unroll
        for (int i = 0; i < 8; ++i)
          store(out + (16 * (i % 2) + 4 * j + i / 2) * kPanelColumns + v * kLanes,
                values[i] * scale[i % 2 * (kPieces - 1)]);
      }
    }
    elements += 4 * kStepBytes;
    scales += kPieces * kPanelColumns;
    out += 32 * kPanelColumns;
  }
}

/// ProductKernels::recordsToFloats.
template <bool kWords> void recordsToFloats(const RecordsOfPanel& panel, float* out) {
  constexpr int kElements = kWords ? 2 : 4;
  const std::byte* step = panel.records;
  const I32 offset = (I32)splat(static_cast<std::uint32_t>(panel.offset));
  for (std::int64_t p = 0; p < panel.pieces; ++p, step += kStepBytes) {
    const std::byte* scales = step + panel.steps * kStepBytes;
    for (; step < scales; step += kStepBytes, out += kElements * kPanelColumns)
#pragma unroll
      for (int v = 0; v < kVectorsOfPanel; ++v) {
        const F32 scale = load<F32>(scales + v * kVectorBytes);
        const U32 dwords = load<U32>(step + v * kVectorBytes);
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
          const I32 integer = kWords ? (I32)(dwords << (16 - 16 * i)) >> 16
                                     : (I32)(dwords >> (8 * i) & 0xFF) - offset;
          // Elements are exact, so that the product is rounded once.
          store(out + i * kPanelColumns + v * kLanes,
                __builtin_convertvector(integer, F32) * splat(panel.quantum) * scale);
        }
      }
  }
}

/// ProductKernels::interleave.
template <int kPieces>
void interleaveTile(const std::int8_t* rows, std::ptrdiff_t rowBytes, std::int64_t groups,
                    std::byte* records) {
  constexpr int kPart = 64, kStepsOfPiece = 8 / kPieces * kTallest * 4;
  constexpr int kTail = 2 * kTallest * 4;
  for (std::int64_t g = 0; g < groups; ++g, rows += 32) {
    Interleaving<kTallest> group;
#pragma unroll
    for (int pair = 0; pair < kTallest / 2; ++pair)
      group.setPair(pair, rows + 2 * pair * rowBytes, rows + (2 * pair + 1) * rowBytes);
    group.forParts([&](int part, auto dwords) __attribute__((always_inline)) {
      const int at = part * kPart, rest = kStepsOfPiece - at;
      if (rest >= kPart || kPieces == 1) {
        store(records + at, dwords);
      } else if (rest <= 0) {
        store(records + at + kTail, dwords);
      } else { // the first piece ends in the middle
        store(records + at, __builtin_shufflevector(dwords, dwords, 0, 1, 2, 3, 4, 5, 6, 7));
        store(records + at + kPart / 2 + kTail,
              __builtin_shufflevector(dwords, dwords, 8, 9, 10, 11, 12, 13, 14, 15));
      }
    });
    records += 8 * kTallest * 4 + kPieces * kTail;
  }
}

/// ProductKernels::integers.
inline void integersOfCodes(const std::uint8_t* codes, std::int64_t pieces, int piece,
                            const std::int8_t* table, std::int8_t* integers, std::int32_t* sums) {
  using Bytes = VectorOf<std::int8_t, 16>;
  using Words = VectorOf<std::int16_t, 16>;
  const CodeTable lookUp(table);
  for (std::int64_t at = 0; at < pieces * piece; at += 16)
    store(integers + at, lookUp(load<VectorOf<std::uint8_t, 16>>(codes + at)));
  for (std::int64_t p = 0; p < pieces; ++p, integers += piece) {
    Words sum = __builtin_convertvector(load<Bytes>(integers), Words);
    if (piece == 32)
      sum += __builtin_convertvector(load<Bytes>(integers + 16), Words);
    sums[p] = __builtin_reduce_add(sum);
  }
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
