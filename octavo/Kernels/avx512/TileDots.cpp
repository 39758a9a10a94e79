// Products of bf16 by tiles (AMX_BF16), beside the AVX-512 set: not every machine of the set has
// them. TDPBF16PS adds 32 products to each of 16 x 16 elements of C: those of even k have a sum
// from +0 and those of odd k, multiply-adds in order; both sums are added, then the sum of C, each
// rounded once and subnormals taken for zero.
#define OCTAVO_KERNELS_ISA avx512tiles
#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/Product/PlainKernels.h"

#include <algorithm>
#include <cstring>

#if !defined(__AMX_BF16__)
#error "this file is compiled with AMX_TILE and AMX_BF16"
#endif

namespace octavo::kernels::avx512tiles {

namespace {

// Tile registers: C is 0 to 3, lower and upper rows of a panel, then of the next; A is 4 and 5,
// lower and upper rows; B is 6 and 7, a panel each.

constexpr int kTileRowsOfOne = 16, kTileBytes = 64;

/// Rows of C for the tiles; released at the end, or each switch of threads would save them.
class Tiles {
public:
  explicit OCTAVO_INLINE Tiles(int rows) {
    struct alignas(64) {
      std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
      std::uint16_t columnBytes[16] = {};
      std::uint8_t rows[16] = {};
    } configuration;
    for (int tile = 0; tile < 8; ++tile) {
      configuration.columnBytes[tile] = kTileBytes;
      const int here = tile % 2 == 0 ? std::min(rows, kTileRowsOfOne) : rows - kTileRowsOfOne;
      // A tile must have at least one row, also if it is unused.
      configuration.rows[tile] =
          static_cast<std::uint8_t>(tile >= 6 ? kTileRowsOfOne : std::max(here, 1));
    }
    _tile_loadconfig(&configuration);
  }
  OCTAVO_INLINE ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// Calls f.template operator()<tile>(row, column) for each tile of C with its first row and column.
template <int kPanels, bool kIsTall, typename F> OCTAVO_INLINE void forSums(F f) {
  f.template operator()<0>(0, 0);
  if constexpr (kIsTall)
    f.template operator()<1>(kTileRowsOfOne, 0);
  if constexpr (kPanels == 2)
    f.template operator()<2>(0, kPanelColumns);
  if constexpr (kPanels == 2 && kIsTall)
    f.template operator()<3>(kTileRowsOfOne, kPanelColumns);
}

template <int kPanels, bool kIsTall> OCTAVO_INLINE void clear() {
  forSums<kPanels, kIsTall>([]<int kTile>(int, int)
                                __attribute__((always_inline)) { _tile_zero(kTile); });
}

template <int kPanels, bool kIsTall>
OCTAVO_INLINE void loadSums(const float* c, std::ptrdiff_t stride) {
  forSums<kPanels, kIsTall>([&]<int kTile>(int row, int column) __attribute__((always_inline)) {
    _tile_loadd(kTile, c + row * stride + column, static_cast<std::size_t>(stride) * sizeof(float));
  });
}

template <int kPanels, bool kIsTall> OCTAVO_INLINE void storeSums(float* c, std::ptrdiff_t stride) {
  forSums<kPanels, kIsTall>([&]<int kTile>(int row, int column) __attribute__((always_inline)) {
    _tile_stored(kTile, c + row * stride + column,
                 static_cast<std::size_t>(stride) * sizeof(float));
  });
}

/// Adds the products of `groups` times 32 of K.
template <int kPanels, bool kIsTall>
OCTAVO_INLINE void addGroups(const std::byte* left, std::ptrdiff_t leftStride,
                             const std::byte* right, std::ptrdiff_t rightStride,
                             std::int64_t groups) {
  const auto apart = static_cast<std::size_t>(leftStride);
  for (; groups > 0; --groups) {
    _tile_loadd(6, right, kStepBytes);
    _tile_loadd(4, left, apart);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kIsTall) {
      _tile_loadd(5, left + kTileRowsOfOne * leftStride, apart);
      _tile_dpbf16ps(1, 5, 6);
    }
    if constexpr (kPanels == 2) {
      _tile_loadd(7, right + rightStride, kStepBytes);
      _tile_dpbf16ps(2, 4, 7);
    }
    if constexpr (kPanels == 2 && kIsTall)
      _tile_dpbf16ps(3, 5, 7);
    left += kTileBytes;
    right += kTileRowsOfOne * kStepBytes;
  }
}

template <int kPanels, bool kIsTall> void plainRows(const PlainTileArguments& tile) {
  const Tiles tiles(static_cast<int>(tile.rows));
  if (tile.startFromC)
    loadSums<kPanels, kIsTall>(tile.c, tile.stride);
  else
    clear<kPanels, kIsTall>();
  const std::int64_t groups = tile.depth / kGroup, rest = tile.depth % kGroup;
  addGroups<kPanels, kIsTall>(tile.left, tile.leftStride, tile.right, tile.rightStride, groups);
  if (rest != 0) { // the memory after may be unmapped, or hold a NaN
    alignas(64) std::byte rows[kTileRows * kTileBytes] = {};
    alignas(64) std::byte panels[kPanels * kTileRowsOfOne * kStepBytes] = {};
    const std::byte* const left = tile.left + groups * kTileBytes;
    for (std::int64_t row = 0; row < tile.rows; ++row)
      std::memcpy(rows + row * kTileBytes, left + row * tile.leftStride,
                  static_cast<std::size_t>(rest) * 2);
    for (int p = 0; p < kPanels; ++p)
      std::memcpy(panels + p * kTileRowsOfOne * kStepBytes,
                  tile.right + p * tile.rightStride + groups * kTileRowsOfOne * kStepBytes,
                  static_cast<std::size_t>((rest + 1) / 2) * kStepBytes);
    addGroups<kPanels, kIsTall>(rows, kTileBytes, panels, kTileRowsOfOne * kStepBytes, 1);
  }
  storeSums<kPanels, kIsTall>(tile.c, tile.stride);
}

/// As generic/ProductFloat.h's floatTile, for rows that lie by themselves.
template <int kPanels, bool kIsTall> void scaledRows(const FloatTileArguments& tile) {
  const Tiles tiles(tile.rows);
  constexpr int kColumns = kPanels * kPanelColumns;
  const std::byte *left = tile.left, *right = tile.right;
  const float *rowFactors = tile.rowFactors, *columnFactors = tile.columnFactors;
  alignas(64) float terms[kTileRows * kColumns];
  for (std::int64_t done = 0; done < tile.groups; done += tile.groupsInSum) {
    const std::int64_t groups = std::min(tile.groupsInSum, tile.groups - done);
    if (tile.startFromC)
      loadSums<kPanels, kIsTall>(tile.c, tile.stride);
    else
      clear<kPanels, kIsTall>();
    addGroups<kPanels, kIsTall>(left, tile.leftStride, right, tile.rightStride, groups);
    left += groups * kTileBytes;
    right += groups * kTileRowsOfOne * kStepBytes;
    const bool isLast = groups == tile.groups - done;
    if (!rowFactors && done == 0 && !tile.addToC && isLast) {
      storeSums<kPanels, kIsTall>(tile.c, tile.stride);
      return;
    }
    storeSums<kPanels, kIsTall>(terms, kColumns);
    for (int i = 0; i < tile.rows; ++i)
#pragma unroll
      for (int n = 0; n < kColumns; n += kLanes) {
        F32 sum = load<F32>(terms + i * kColumns + n);
        float* const inC = tile.c + i * tile.stride + n;
        float* const between = tile.sums + i * kColumns + n;
        if (rowFactors)
          sum *= splat(rowFactors[i]) * load<F32>(columnFactors + n);
        if (done != 0)
          sum += load<F32>(between);
        else if (tile.addToC)
          sum += load<F32>(inC);
        store(isLast ? inC : between, sum);
      }
    if (rowFactors) {
      rowFactors += tile.rowFactorStride;
      columnFactors += tile.columnFactorStride;
    }
  }
}

constexpr PlainKernels plainTable() {
  PlainKernels table{};
  table.isa = kProductIsa;
  table.depthUnit = kGroup;
  table.tallest = kTileRows;
  static_assert(kTileRows <= kMostPlainRows);
  for (int rows = 1; rows <= kTileRows; ++rows) {
    const bool isTall = rows > kTileRowsOfOne;
    table.panels[rows - 1] = 2;
    table.tiles[rows - 1][0] = isTall ? plainRows<1, true> : plainRows<1, false>;
    table.tiles[rows - 1][1] = isTall ? plainRows<2, true> : plainRows<2, false>;
  }
  return table;
}

} // namespace

extern const PlainKernels kPlainBf16;
const PlainKernels kPlainBf16 = plainTable();

FloatTile floatRows, floatRowsByTwo;
void floatRows(const FloatTileArguments& tile) {
  tile.rows > kTileRowsOfOne ? scaledRows<1, true>(tile) : scaledRows<1, false>(tile);
}
void floatRowsByTwo(const FloatTileArguments& tile) {
  tile.rows > kTileRowsOfOne ? scaledRows<2, true>(tile) : scaledRows<2, false>(tile);
}

} // namespace octavo::kernels::avx512tiles
