#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Base/Loops.h"

#include "octavo/Interpreter/Products/MatrixProduct.h"
#include "octavo/Interpreter/Tensor/Codec.h"
#include "octavo/Interpreter/Tensor/Map.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

struct Operands {
  OperandLayout lhs, rhs;
};

Operands layouts(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions) {
  const std::vector<std::int64_t> ones(std::max(lhs.shape.size(), rhs.shape.size()), 1);
  const std::span<const std::int64_t> block(ones);
  return {operandLayout(lhs.shape, block.first(lhs.shape.size()), dimensions.lhsBatch,
                        dimensions.lhsContracting),
          operandLayout(rhs.shape, block.first(rhs.shape.size()), dimensions.rhsBatch,
                        dimensions.rhsContracting)};
}

/// The products of all batches, [batch][rows][columns].
template <typename Real>
std::vector<Real> multiply(const std::vector<Real>& lhs, const std::vector<Real>& rhs,
                           const Operands& at) {
  constexpr std::int64_t width = kTileColumns<Real>;
  const auto rows = static_cast<std::int64_t>(at.lhs.free.size());
  const auto columns = static_cast<std::int64_t>(at.rhs.free.size());
  const auto depth = static_cast<std::int64_t>(at.lhs.contracted.size());
  std::vector<Real> products(at.lhs.batch.size() * rows * columns);

  for (std::size_t batch = 0; batch < at.lhs.batch.size(); ++batch) {
    const Real* left = lhs.data() + at.lhs.batch[batch];
    const Real* right = rhs.data() + at.rhs.batch[batch];
    std::vector<Real> packed(static_cast<std::size_t>(rows * depth));
    for (std::int64_t m = 0; m < rows; ++m)
      for (std::int64_t k = 0; k < depth; ++k)
        packed[m * depth + k] = left[at.lhs.free[m] + at.lhs.contracted[k]];
    const Panels<Real> panels(depth, columns, [&](std::int64_t k, std::int64_t n) {
      return right[at.rhs.free[n] + at.rhs.contracted[k]];
    });
    Real* target = products.data() + batch * rows * columns;

    // A panel stays in cache while all rows are multiplied by it.
    base::forEach((columns + width - 1) / width, [&](std::int64_t p) {
      const std::int64_t used = std::min(width, columns - p * width);
      for (std::int64_t m = 0; m < rows; m += kTileRows) {
        const std::int64_t tileRows = std::min(kTileRows, rows - m);
        Tile<Real> sums{};
        accumulate(tileRows, depth, packed.data() + m * depth, depth, panels.panel(p), sums);
        for (std::int64_t r = 0; r < tileRows; ++r)
          std::copy_n(sums[r], used, target + (m + r) * columns + p * width);
      }
    });
  }
  return products;
}

Tensor integerDot(const Tensor& lhs, const Tensor& rhs, const Operands& at,
                  std::vector<std::int64_t> shape, IntegerType type) {
  const std::vector<std::uint64_t> left = decodeIntegers(lhs);
  const std::vector<std::uint64_t> right = decodeIntegers(rhs);
  std::vector<std::uint64_t> sums;
  sums.reserve(at.lhs.batch.size() * at.lhs.free.size() * at.rhs.free.size());
  for (std::size_t batch = 0; batch < at.lhs.batch.size(); ++batch)
    for (std::int64_t row : at.lhs.free)
      for (std::int64_t column : at.rhs.free) {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < at.lhs.contracted.size(); ++k) {
          const std::uint64_t x = left[at.lhs.batch[batch] + row + at.lhs.contracted[k]];
          const std::uint64_t y = right[at.rhs.batch[batch] + column + at.rhs.contracted[k]];
          sum = type.width == 1 ? sum | (x & y) : sum + x * y;
        }
        sums.push_back(sum);
      }
  return encodeIntegers(type, std::move(shape), sums);
}

/// Rounds each product and each sum to a 16-bit format, by way of f64. The double rounding is
/// harmless: f64 has more than twice the bits of either format.
Tensor narrowDot(const Tensor& lhs, const Tensor& rhs, const Operands& at,
                 std::vector<std::int64_t> shape, const ElementFormat& result,
                 const ElementFormat& accumulation) {
  const std::vector<float> left = decodeToF32(lhs), right = decodeToF32(rhs);
  std::vector<double> sums;
  sums.reserve(at.lhs.batch.size() * at.lhs.free.size() * at.rhs.free.size());
  withCodec(accumulation, [&](const auto& codec) {
    const auto rounded = [&](double x) { return codec.decode(codec.encode(x)); };
    for (std::size_t batch = 0; batch < at.lhs.batch.size(); ++batch)
      for (std::int64_t row : at.lhs.free)
        for (std::int64_t column : at.rhs.free) {
          double sum = 0;
          for (std::size_t k = 0; k < at.lhs.contracted.size(); ++k) {
            const double x = left[at.lhs.batch[batch] + row + at.lhs.contracted[k]];
            const double y = right[at.rhs.batch[batch] + column + at.rhs.contracted[k]];
            sum = rounded(sum + rounded(x * y));
          }
          sums.push_back(sum);
        }
  });
  return encodeElements(result, std::move(shape), sums);
}

/// Computes each complex product by the formula; each part of each product and sum is rounded to
/// its format.
Tensor complexDot(const Tensor& lhs, const Tensor& rhs, const Operands& at,
                  std::vector<std::int64_t> shape, const ElementFormat& part) {
  const std::vector<std::complex<double>> left = decodeComplex(lhs), right = decodeComplex(rhs);
  std::vector<std::complex<double>> sums;
  sums.reserve(at.lhs.batch.size() * at.lhs.free.size() * at.rhs.free.size());
  withComplexCodec(part, [&](const auto& codec) {
    const auto rounded = [&](double re, double im) {
      return codec.decode(codec.encode(std::complex<double>(re, im)));
    };
    for (std::size_t batch = 0; batch < at.lhs.batch.size(); ++batch)
      for (std::int64_t row : at.lhs.free)
        for (std::int64_t column : at.rhs.free) {
          std::complex<double> sum = 0.0;
          for (std::size_t k = 0; k < at.lhs.contracted.size(); ++k) {
            const auto x = left[at.lhs.batch[batch] + row + at.lhs.contracted[k]];
            const auto y = right[at.rhs.batch[batch] + column + at.rhs.contracted[k]];
            const auto product = rounded(x.real() * y.real() - x.imag() * y.imag(),
                                         x.real() * y.imag() + x.imag() * y.real());
            sum = rounded(sum.real() + product.real(), sum.imag() + product.imag());
          }
          sums.push_back(sum);
        }
  });
  return encodeComplex(part, std::move(shape), sums);
}

} // namespace

ElementType defaultAccumulation(const ElementType& lhs, const ElementType& rhs,
                                const ElementType& result) {
  return lhs == kF64 || rhs == kF64 || result == kF64 ? kF64 : kF32;
}

Tensor dotGeneral(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                  const ElementType& result, const ElementType& accumulation) {
  const Operands at = layouts(lhs, rhs, dimensions);
  std::vector<std::int64_t> shape = dotShape(lhs.shape, rhs.shape, dimensions);
  if (result.isInteger())
    return integerDot(lhs, rhs, at, std::move(shape), result.integer());
  if (result.isComplex())
    return complexDot(lhs, rhs, at, std::move(shape), result.part());
  if (accumulation == kF64)
    return encodeElements(result.format(), std::move(shape),
                          multiply(decodeElements(lhs), decodeElements(rhs), at));
  if (accumulation != kF32)
    return narrowDot(lhs, rhs, at, std::move(shape), result.format(), accumulation.format());
  return encodeElements(result.format(), std::move(shape),
                        multiply(decodeToF32(lhs), decodeToF32(rhs), at));
}

} // namespace octavo::interpreter
