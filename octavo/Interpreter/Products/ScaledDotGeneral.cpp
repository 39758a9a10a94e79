#include "octavo/Interpreter/Products/ScaledDotGeneral.h"

#include "octavo/Base/Loops.h"
#include "octavo/Interpreter/Products/MatrixProduct.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Dot.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace octavo::interpreter {

using format::ElementFormat;
using numerics::ScaledTensor;

namespace {

/// A range of the contracted index in which neither operand changes its block.
struct Piece {
  std::int64_t begin, end;
  std::int64_t lhsBlock, rhsBlock; ///< contracted part of the offset of the block
};

std::vector<Piece> cutPieces(const std::vector<std::int64_t>& lhs,
                             const std::vector<std::int64_t>& rhs) {
  std::vector<Piece> pieces;
  for (std::size_t k = 0; k < lhs.size(); ++k) {
    const auto index = static_cast<std::int64_t>(k);
    if (!pieces.empty() && pieces.back().lhsBlock == lhs[k] && pieces.back().rhsBlock == rhs[k])
      pieces.back().end = index + 1;
    else
      pieces.push_back({index, index + 1, lhs[k], rhs[k]});
  }
  return pieces;
}

/// The number of bits from a format's quantum to its largest value: with quantum 2^q, every finite
/// value is a multiple of 2^q and at most 2^(q + spread) in magnitude.
int formatSpread(const ElementFormat& format) {
  int exponent = 0;
  const auto lowest = format.lowestCode();
  const double largest =
      std::max(numerics::maxValue(format), lowest ? -numerics::decode(format, *lowest) : 0.0);
  // frexp gives largest < 2^exponent.
  std::frexp(largest, &exponent);
  return exponent - format.quantumExponent();
}

int ceilLog2(std::int64_t n) {
  return n <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(n - 1));
}

/// The exponent of the lowest set bit of a finite value that is not zero.
int lowestBit(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  const auto integer = static_cast<std::int64_t>(std::ldexp(std::fabs(fraction), 53));
  return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(integer));
}

/// One operand, with access to the rows of one batch index in the order of the contracted index.
struct Operand {
  const ScaledTensor& tensor;
  OperandLayout elements, blocks;
  std::vector<double> value;      ///< value of each code
  std::vector<double> scaleValue; ///< value of the scale of each block

  Operand(const ScaledTensor& tensor, const std::vector<std::int64_t>& batchAxes,
          const std::vector<std::int64_t>& contractedAxes)
      : tensor(tensor),
        elements(operandLayout(tensor.shape, std::vector<std::int64_t>(tensor.shape.size(), 1),
                               batchAxes, contractedAxes)),
        blocks(operandLayout(tensor.shape, tensor.type.block, batchAxes, contractedAxes)),
        value(256), scaleValue(tensor.scales.size()) {
    for (std::uint32_t code = 0; code < 256; ++code)
      value[code] = numerics::decode(*tensor.type.element, code);
    for (std::size_t i = 0; i < scaleValue.size(); ++i)
      scaleValue[i] = numerics::decode(*tensor.type.scale, tensor.scales[i]);
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(elements.free.size()); }
  std::int64_t depth() const { return static_cast<std::int64_t>(elements.contracted.size()); }
  std::uint8_t code(std::size_t batch, std::int64_t row, std::int64_t k) const {
    return tensor.elements[elements.batch[batch] + elements.free[row] + elements.contracted[k]];
  }
  double scale(std::size_t batch, std::int64_t row, std::int64_t block) const {
    return scaleValue[blocks.batch[batch] + blocks.free[row] + block];
  }

  /// For each [row][piece], the number of bits between the lowest set bit of any finite element and
  /// the largest magnitude.
  std::vector<int> spreads(std::size_t batch, const std::vector<Piece>& pieces) const {
    std::vector<int> lowest(256), highest(256);
    for (int c = 0; c < 256; ++c) {
      const bool counts = std::isfinite(value[c]) && value[c] != 0.0;
      lowest[c] = counts ? lowestBit(value[c]) : 1 << 20;
      highest[c] = counts ? std::ilogb(value[c]) + 1 : -(1 << 20);
    }
    std::vector<int> result;
    result.reserve(static_cast<std::size_t>(rows()) * pieces.size());
    for (std::int64_t row = 0; row < rows(); ++row)
      for (const Piece& piece : pieces) {
        int low = 1 << 20, high = -(1 << 20);
        for (std::int64_t k = piece.begin; k < piece.end; ++k) {
          const std::uint8_t c = code(batch, row, k);
          low = std::min(low, lowest[c]);
          high = std::max(high, highest[c]);
        }
        result.push_back(std::max(0, high - low));
      }
    return result;
  }

  std::vector<std::uint8_t> codes(std::size_t batch, std::int64_t row, const Piece& piece) const {
    std::vector<std::uint8_t> result;
    for (std::int64_t k = piece.begin; k < piece.end; ++k)
      result.push_back(code(batch, row, k));
    return result;
  }
};

/// The products of one batch index. `Real` represents the sums of elements exactly if `isExact`.
template <typename Real> class BatchProduct {
public:
  BatchProduct(const Operand& lhs, const Operand& rhs, const std::vector<Piece>& pieces,
               std::size_t batch, ExactSum sum)
      : lhs(lhs), rhs(rhs), pieces(pieces), batch(batch), left(lhs.rows() * lhs.depth()),
        right(rhs.depth(), rhs.rows(), [&](std::int64_t k, std::int64_t n) {
          return static_cast<Real>(rhs.value[rhs.code(batch, n, k)]);
        }) {
    for (std::int64_t m = 0; m < lhs.rows(); ++m)
      for (std::int64_t k = 0; k < lhs.depth(); ++k)
        left[m * lhs.depth() + k] = static_cast<Real>(lhs.value[lhs.code(batch, m, k)]);
    if (sum == ExactSum::Depends) {
      lhsSpread = lhs.spreads(batch, pieces);
      rhsSpread = rhs.spreads(batch, pieces);
    }
  }

  /// Writes the products to target, [rows of lhs][rows of rhs].
  void write(float* target) const {
    constexpr std::int64_t width = kTileColumns<Real>;
    base::forEach((rhs.rows() + width - 1) / width, [&](std::int64_t panel) {
      for (std::int64_t m = 0; m < lhs.rows(); m += kTileRows)
        writeTile(m, panel, target);
    });
  }

private:
  void writeTile(std::int64_t m, std::int64_t panel, float* target) const {
    constexpr std::int64_t width = kTileColumns<Real>;
    const std::int64_t rows = std::min(kTileRows, lhs.rows() - m);
    const std::int64_t n = panel * width;
    const std::int64_t columns = std::min(width, rhs.rows() - n);
    float total[kTileRows][width] = {};
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Piece& piece = pieces[p];
      Tile<Real> sums{};
      accumulate(rows, piece.end - piece.begin, left.data() + m * lhs.depth() + piece.begin,
                 lhs.depth(), right.panel(panel) + piece.begin * width, sums);
      double columnScale[width] = {};
      for (std::int64_t j = 0; j < columns; ++j)
        columnScale[j] = rhs.scale(batch, n + j, piece.rhsBlock);
      for (std::int64_t r = 0; r < rows; ++r) {
        if (!lhsSpread.empty())
          repairRow(m + r, n, columns, p, sums[r]);
        const double rowScale = lhs.scale(batch, m + r, piece.lhsBlock);
        for (std::int64_t j = 0; j < width; ++j)
          total[r][j] +=
              static_cast<float>(static_cast<double>(sums[r][j]) * (rowScale * columnScale[j]));
      }
    }
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(total[r], columns, target + (m + r) * rhs.rows() + n);
  }

  /// Recomputes the sums in which f64 may have lost bits by numerics::elementDot.
  void repairRow(std::int64_t m, std::int64_t n, std::int64_t columns, std::size_t p,
                 Real* sums) const {
    const Piece& piece = pieces[p];
    const int room = 53 - ceilLog2(piece.end - piece.begin) - lhsSpread[m * pieces.size() + p];
    for (std::int64_t j = 0; j < columns; ++j)
      if (rhsSpread[(n + j) * pieces.size() + p] > room)
        sums[j] = static_cast<Real>(
            numerics::elementDot(*lhs.tensor.type.element, lhs.codes(batch, m, piece),
                                 *rhs.tensor.type.element, rhs.codes(batch, n + j, piece)));
  }

  const Operand& lhs;
  const Operand& rhs;
  const std::vector<Piece>& pieces;
  std::size_t batch;
  std::vector<Real> left;
  Panels<Real> right;
  std::vector<int> lhsSpread, rhsSpread; ///< empty if every sum is exact
};

} // namespace

ExactSum exactSum(const ElementFormat& lhs, const ElementFormat& rhs, std::int64_t length) {
  // A sum of n products, each a multiple of u below 2^s * u, is a multiple of u below 2^(s + log2
  // n) * u. So every partial sum is exact if the significand has that many bits.
  const int bits = formatSpread(lhs) + formatSpread(rhs) + ceilLog2(length);
  return bits <= 24 ? ExactSum::InF32 : bits <= 53 ? ExactSum::InF64 : ExactSum::Depends;
}

std::vector<float> scaledDotGeneral(const ScaledTensor& lhs, const ScaledTensor& rhs,
                                    const DotDimensions& dimensions) {
  const Operand left(lhs, dimensions.lhsBatch, dimensions.lhsContracting);
  const Operand right(rhs, dimensions.rhsBatch, dimensions.rhsContracting);
  const std::vector<Piece> pieces = cutPieces(left.blocks.contracted, right.blocks.contracted);
  std::int64_t longest = 0;
  for (const Piece& piece : pieces)
    longest = std::max(longest, piece.end - piece.begin);
  const ExactSum sum = exactSum(*lhs.type.element, *rhs.type.element, longest);

  const std::int64_t size = left.rows() * right.rows();
  std::vector<float> products(left.elements.batch.size() * static_cast<std::size_t>(size));
  for (std::size_t batch = 0; batch < left.elements.batch.size(); ++batch) {
    float* target = products.data() + static_cast<std::int64_t>(batch) * size;
    if (sum == ExactSum::InF32)
      BatchProduct<float>(left, right, pieces, batch, sum).write(target);
    else
      BatchProduct<double>(left, right, pieces, batch, sum).write(target);
  }
  for (float& product : products)
    product = numerics::timesOuterScales(product, lhs.outer, rhs.outer);
  return products;
}

} // namespace octavo::interpreter
