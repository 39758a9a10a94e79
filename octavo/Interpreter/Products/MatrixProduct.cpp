#include "octavo/Interpreter/Products/MatrixProduct.h"

#include "octavo/Base/Lanes.h"

#include <cstring>

namespace octavo::interpreter {

namespace {

template <typename Real, std::int64_t Rows>
OCTAVO_INTO_CLONES void accumulateRows(std::int64_t depth, const Real* a, std::int64_t stride,
                                       const Real* b, Real (*sums)[kTileColumns<Real>]) {
  // One vector type per row keeps the sums in registers over all of `depth`. With plain arrays,
  // clang 22 stores and reloads them for every k.
  typedef Real Lanes __attribute__((vector_size(64)));
  Lanes rows[Rows];
  for (std::int64_t r = 0; r < Rows; ++r)
    std::memcpy(&rows[r], sums[r], sizeof(Lanes));
  for (std::int64_t k = 0; k < depth; ++k) {
    Lanes column;
    std::memcpy(&column, b + k * kTileColumns<Real>, sizeof(Lanes));
    for (std::int64_t r = 0; r < Rows; ++r)
      rows[r] += a[r * stride + k] * column;
  }
  for (std::int64_t r = 0; r < Rows; ++r)
    std::memcpy(sums[r], &rows[r], sizeof(Lanes));
}

template <typename Real>
OCTAVO_INTO_CLONES void accumulateTile(std::int64_t rows, std::int64_t depth, const Real* a,
                                       std::int64_t stride, const Real* b, Tile<Real>& sums) {
  if (rows == kTileRows)
    return accumulateRows<Real, kTileRows>(depth, a, stride, b, sums);
  for (std::int64_t r = 0; r < rows; ++r)
    accumulateRows<Real, 1>(depth, a + r * stride, stride, b, sums + r);
}

} // namespace

OCTAVO_VECTOR_CLONES void accumulate(std::int64_t rows, std::int64_t depth, const float* a,
                                     std::int64_t stride, const float* b, Tile<float>& sums) {
  accumulateTile<float>(rows, depth, a, stride, b, sums);
}

OCTAVO_VECTOR_CLONES void accumulate(std::int64_t rows, std::int64_t depth, const double* a,
                                     std::int64_t stride, const double* b, Tile<double>& sums) {
  accumulateTile<double>(rows, depth, a, stride, b, sums);
}

} // namespace octavo::interpreter
