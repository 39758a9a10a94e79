// Tiles of products of plain f32, bf16 and int8. Each element of C is one chain of additions over K
// in order, whatever the tile. Included by a set's file after its ProductParts.h, which has
// kPlainRows and kPlainSums.
#pragma once

#include "octavo/Kernels/Product/PlainKernels.h"
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// A dword is one f32.
struct PlainF32 {
  static constexpr int kElements = 1, kParts = 1, kSums = kPlainSums;
  static constexpr std::int32_t kColumnOffset = 0;
  static OCTAVO_INLINE U32 column(U32 dwords) { return dwords; }
  template <int> static OCTAVO_INLINE F32 part(U32 dwords) { return floats(dwords); }
  static OCTAVO_INLINE F32 add(F32 sum, F32 b, F32 a) { return multiplyAdd(sum, b, a); }
};

/// A dword is two bf16, whose products are exact in f32 and added one after the other.
struct PlainBf16 {
  static constexpr int kElements = 2, kParts = 2, kSums = kPlainSums;
  static constexpr std::int32_t kColumnOffset = 0;
  static OCTAVO_INLINE U32 column(U32 dwords) { return dwords; }
  template <int kPart> static OCTAVO_INLINE F32 part(U32 dwords) {
    return floats(kPart == 0 ? dwords << 16 : dwords & 0xFFFF0000);
  }
  static OCTAVO_INLINE F32 add(F32 sum, F32 b, F32 a) { return multiplyAdd(sum, b, a); }
};

/// A dword is four int8: words of the even and of the odd ones, whose products are added in 32
/// bits. Sums are int32, as bits.
struct PlainInt8 {
  // Products take registers of their own before they are added.
  static constexpr int kElements = 4, kParts = 2, kSums = kPlainSums - 2;
  static constexpr std::int32_t kColumnOffset = 0;
  static OCTAVO_INLINE U32 column(U32 dwords) { return dwords; }
  template <int kPart> static OCTAVO_INLINE F32 part(U32 dwords) {
    using Words = VectorOf<std::int16_t, 2 * kLanes>;
    return (F32)((kPart == 0 ? (Words)((U16)dwords << 8) : (Words)dwords) >> 8);
  }
  static OCTAVO_INLINE F32 add(F32 sum, F32 b, F32 a) {
    auto total = (WordsDot::Sum)sum;
    const U8 columns[1] = {(U8)b}, rows[1] = {(U8)a};
    WordsDot::step(total, columns, rows);
    return (F32)total;
  }
};

/// The left side's rows: `stride` bytes apart, or separate.
template <int kRows, bool kArePieces> class PlainRows {
public:
  OCTAVO_INLINE explicit PlainRows(const PlainTileArguments& tile)
      : first(tile.left), stride(tile.leftStride) {}
  OCTAVO_INLINE const std::byte* at(int row) const { return first + row * stride; }
  OCTAVO_INLINE void advance(std::ptrdiff_t bytes) { first += bytes; }

private:
  const std::byte* first;
  std::ptrdiff_t stride;
};

template <int kRows> class PlainRows<kRows, true> {
public:
  OCTAVO_INLINE explicit PlainRows(const PlainTileArguments& tile)
      : beginnings(tile.beginnings), stride(tile.beginningStride) {}
  OCTAVO_INLINE void begin(const PlainPiece& piece) {
    const std::byte* const* own = beginnings + piece.beginning * stride;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      rows[i] = own[i];
    offset = piece.offset;
  }
  OCTAVO_INLINE const std::byte* at(int row) const { return rows[row] + offset; }
  OCTAVO_INLINE void advance(std::ptrdiff_t bytes) { offset += bytes; }

private:
  const std::byte* const* beginnings;
  std::ptrdiff_t stride, offset = 0;
  const std::byte* rows[kRows] = {};
};

/// The layout of a tile's operands. In a packed right side, steps are contiguous.
enum class PlainLayout : std::uint8_t { Packed, Unpacked, PackedPieces };

template <typename Dot, int kRows, int kPanels, PlainLayout kLayout>
void plainTile(const PlainTileArguments& tile) {
  constexpr int kPanelVectors = kPanelColumns / kLanes;
  constexpr int kVectors = kPanelVectors * kPanels;
  constexpr bool kIsPacked = kLayout != PlainLayout::Unpacked;
  // Several steps at variable offsets would spill registers.
  constexpr int kUnrolled = kIsPacked ? 4 : 1;
  const std::ptrdiff_t rightStep = kIsPacked ? kStepBytes : tile.rightStep;
  // One or two rows read a matrix from memory faster than they multiply it.
  constexpr bool kPrefetches = kIsPacked && kRows <= 2;
  PlainRows<kRows, kLayout == PlainLayout::PackedPieces> left(tile);
  const std::byte* right[kPanels];
  for (int p = 0; p < kPanels; ++p)
    right[p] = tile.right + p * (kIsPacked ? tile.rightStride : kStepBytes);
  float* __restrict c = tile.c;
  const std::ptrdiff_t stride = tile.stride;

  // Prefetches the tile's part of C, and the rows of the next tile if they follow directly.
  constexpr bool kFetches = kRows > 2;
  const std::byte* nextRows = tile.left + kRows * tile.leftStride;
  const bool fetchesRows = kFetches && kLayout == PlainLayout::Packed &&
                           tile.leftStride * Dot::kElements == tile.depth * 4;
  constexpr bool kFetchesAhead = kFetches && kPanels == 1 && kLayout == PlainLayout::Packed;
  const std::byte* ahead = tile.ahead;
  const std::ptrdiff_t aheadBytes = tile.aheadStep * kUnrolled;
  if (kFetches && !tile.startFromC)
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int p = 0; p < kPanels; ++p)
        __builtin_prefetch(c + i * stride + p * kPanelColumns, 1);

  F32 sums[kRows][kVectors];
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      sums[i][v] = tile.startFromC ? load<F32>(c + i * stride + v * kLanes) : F32{};

  // A part of a step: dwords of the rows, and of the panels at offset `at`. The smaller set is kept
  // in registers. The barriers stop the compiler from loading early or adding late, which spills.
  auto addPart = [&]<int kPart>(auto rowAt, std::ptrdiff_t at) __attribute__((always_inline)) {
    auto row = [&](int i) __attribute__((always_inline)) {
      asm volatile("" ::: "memory");
      return Dot::template part<kPart>((U32)broadcast(rowAt(i)));
    };
    auto column = [&](int v) __attribute__((always_inline)) {
      asm volatile("" ::: "memory");
      return Dot::template part<kPart>(
          Dot::column(load<U32>(right[v / kPanelVectors] + at + v % kPanelVectors * kVectorBytes)));
    };
    auto add = [&](int i, int v, F32 a, F32 b) __attribute__((always_inline)) {
      sums[i][v] = Dot::add(sums[i][v], b, a);
      pin(sums[i][v]);
    };
    if constexpr (kRows < kVectors) {
      F32 a[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        a[i] = row(i);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const F32 b = column(v);
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          add(i, v, a[i], b);
      }
    } else {
      F32 b[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        b[v] = column(v);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const F32 a = row(i);
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          add(i, v, a, b[v]);
      }
    }
  };
  auto addStep = [&](int s) __attribute__((always_inline)) {
    if constexpr (kPrefetches)
      for (int p = 0; p < kPanels; ++p)
        __builtin_prefetch(right[p] + s * kStepBytes + kPrefetchBytes);
    const auto rowAt = [&](int i) __attribute__((always_inline)) { return left.at(i) + 4 * s; };
    addPart.template operator()<0>(rowAt, s * rightStep);
    if constexpr (Dot::kParts == 2)
      addPart.template operator()<1>(rowAt, s * rightStep);
  };
  auto advance = [&](int steps) __attribute__((always_inline)) {
    left.advance(4 * steps);
    for (int p = 0; p < kPanels; ++p)
      right[p] += steps * rightStep;
  };
  auto addSteps = [&](std::int64_t steps) __attribute__((always_inline)) {
    for (; steps >= kUnrolled; steps -= kUnrolled) {
      if (fetchesRows) {
        constexpr std::ptrdiff_t kBytes = kUnrolled * kRows * 4;
        __builtin_prefetch(nextRows);
        __builtin_prefetch(nextRows + kBytes / 2);
        nextRows += kBytes;
      }
      if constexpr (kFetchesAhead) { // to the second cache: the first is full of what is multiplied
        for (std::ptrdiff_t line = 0; line < aheadBytes; line += 64)
          __builtin_prefetch(ahead + line, 0, 2);
        ahead += aheadBytes;
      }
#pragma unroll
      for (int s = 0; s < kUnrolled; ++s)
        addStep(s);
      advance(kUnrolled);
    }
#pragma clang loop unroll(disable)
    for (; steps > 0; --steps) {
      addStep(0);
      advance(1);
    }
  };
  if constexpr (kLayout == PlainLayout::PackedPieces)
    for (std::int64_t piece = 0; piece < tile.pieceCount; ++piece) {
      left.begin(tile.pieces[piece]);
      addSteps(tile.pieces[piece].steps);
    }
  else
    addSteps(tile.depth / Dot::kElements);
  if constexpr (Dot::kElements > 1)
    if (const std::int64_t rest = tile.depth % Dot::kElements; rest != 0) { // a row may end here
      constexpr int kWidth = 4 / Dot::kElements;
      std::uint32_t last[kRows] = {};
      for (int i = 0; i < kRows; ++i)
        for (int byte = 0; byte < rest * kWidth; ++byte)
          last[i] |= static_cast<std::uint32_t>(left.at(i)[byte]) << (8 * byte);
      const auto rowAt = [&](int i) { return reinterpret_cast<const std::byte*>(last + i); };
      addPart.template operator()<0>(rowAt, 0);
      // Of two bf16 the second is missing; of four int8 some of each part.
      if constexpr (Dot::kElements == 4 && Dot::kParts == 2)
        addPart.template operator()<1>(rowAt, 0);
    }
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      store(c + i * stride + v * kLanes, sums[i][v]);
}

template <typename Dot, int kRows, int kPanels> constexpr void addPlainTiles(PlainKernels& table) {
  table.tiles[kRows - 1][kPanels - 1] = plainTile<Dot, kRows, kPanels, PlainLayout::Packed>;
  if constexpr (Dot::kElements == 1) {
    table.unpacked[kRows - 1][kPanels - 1] = plainTile<Dot, kRows, kPanels, PlainLayout::Unpacked>;
    table.pieced[kRows - 1][kPanels - 1] =
        plainTile<Dot, kRows, kPanels, PlainLayout::PackedPieces>;
  }
  if constexpr (kPanels > 1)
    addPlainTiles<Dot, kRows, kPanels - 1>(table);
}

template <typename Dot, int kRows> constexpr void addPlainRows(PlainKernels& table) {
  constexpr int kFitting = Dot::kSums / (kRows * kPanelColumns / kLanes);
  constexpr int kPanels = kFitting < kMostPlainPanels ? kFitting : kMostPlainPanels;
  table.panels[kRows - 1] = kPanels;
  addPlainTiles<Dot, kRows, kPanels>(table);
  if constexpr (kRows > 1)
    addPlainRows<Dot, kRows - 1>(table);
}

inline void widenRow(const std::uint16_t* row, std::int64_t n, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(to + i, LoadBf16::load(row + i));
  for (; i < n; ++i)
    to[i] = __builtin_bit_cast(float, std::uint32_t{row[i]} << 16);
}

inline void widenPanel(const std::byte* panel, std::int64_t steps, float* to) {
  for (; steps > 0; --steps, panel += kStepBytes, to += 2 * kPanelColumns)
#pragma unroll
    for (int v = 0; v < kPanelColumns; v += kLanes) {
      const U32 pairs = load<U32>(panel + 4 * v);
      store(to + v, PlainBf16::part<0>(pairs));
      store(to + kPanelColumns + v, PlainBf16::part<1>(pairs));
    }
}

template <typename Dot> constexpr PlainKernels plainTable() {
  PlainKernels table{};
  table.isa = kProductIsa;
  // A tile has one panel at least.
  constexpr int kFitting = Dot::kSums / (kPanelColumns / kLanes);
  constexpr int kTallest = kFitting < kPlainRows ? kFitting : kPlainRows;
  table.tallest = kTallest;
  table.columnOffset = Dot::kColumnOffset;
  addPlainRows<Dot, kTallest>(table);
  if constexpr (Dot::kElements == 2 && Dot::kParts == 2) {
    table.widenRow = widenRow;
    table.widenPanel = widenPanel;
  }
  return table;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
