// The inner loops of dot products. A tile of sums runs over the contracted index in order; each
// lane is one element of the result. Lanes are never added to one another, so the vector width does
// not change any bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace octavo::interpreter {

/// Rows of a tile.
inline constexpr std::int64_t kTileRows = 4;

/// Columns of a tile: one cache line (64 bytes) of lanes.
template <typename Real> inline constexpr std::int64_t kTileColumns = 64 / sizeof(Real);

/// Sums of a tile, row-major.
template <typename Real> using Tile = Real[kTileRows][kTileColumns<Real>];

/// For k = 0 .. depth - 1 in this order, adds a[r * stride + k] * b[k * kTileColumns + j] to
/// sums[r][j]. Each product and each sum is rounded. `rows` is at most kTileRows.
void accumulate(std::int64_t rows, std::int64_t depth, const float* a, std::int64_t stride,
                const float* b, Tile<float>& sums);
void accumulate(std::int64_t rows, std::int64_t depth, const double* a, std::int64_t stride,
                const double* b, Tile<double>& sums);

/// A right operand in panels of kTileColumns columns. Panel p has, for each k, the elements of
/// columns p * kTileColumns and following; zeros beyond the last column.
template <typename Real> class Panels {
public:
  /// Packs the elements that `element(k, n)` returns.
  template <typename F> Panels(std::int64_t depth, std::int64_t columns, F element) : depth(depth) {
    constexpr std::int64_t width = kTileColumns<Real>;
    const std::int64_t panels = (columns + width - 1) / width;
    data.resize(static_cast<std::size_t>(panels * depth * width));
    if (data.empty())
      return;
    for (std::int64_t n = 0; n < columns; ++n) {
      Real* target = data.data() + n / width * depth * width + n % width;
      for (std::int64_t k = 0; k < depth; ++k)
        target[k * width] = element(k, n);
    }
  }
  const Real* panel(std::int64_t p) const { return data.data() + p * depth * kTileColumns<Real>; }

private:
  std::int64_t depth;
  std::vector<Real> data;
};

} // namespace octavo::interpreter
