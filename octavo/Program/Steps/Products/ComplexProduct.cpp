#include "octavo/Program/Steps/Products/ComplexProduct.h"

#include "octavo/Base/Lanes.h"
#include "octavo/Program/Steps/Interruption.h"

#include <algorithm>
#include <cstring>

namespace octavo::program {

namespace {

using base::kLanes;
using base::Lanes;

/// A product, or a strip of it with at most kLanes columns, one per lane.
template <typename Part> struct Strip {
  const Part *left, *right;                   ///< pointers to parts; strides count complex numbers
  std::int64_t leftStride, leftDepthStride;   ///< between rows, and along the depth
  std::int64_t rightStride, rightDepthStride; ///< between columns, and along the depth
  Part* c;
  std::int64_t cRowStride, cColumnStride;
  std::int64_t rows, columns, depth;
};

/// The depth that is laid out at a time; it fits the first-level cache.
constexpr std::int64_t kDepth = 128;

struct Laid {
  alignas(64) double re[kDepth][kLanes];
  alignas(64) double im[kDepth][kLanes];
};

/// Adds the products of depth [begin, begin + depth) to the sums of kRows rows; they start at 0 if
/// `begin` is 0.
template <int kRows, typename Part>
OCTAVO_INTO_CLONES void addRows(const Strip<Part>& strip, const Laid& laid, std::int64_t row,
                                std::int64_t begin, std::int64_t depth) {
  using Sums = base::LanesOf<Part>::Type;
  Sums re[kRows] = {}, im[kRows] = {};
  Part res[kRows][kLanes] = {}, ims[kRows][kLanes] = {};
  const auto number = [&](int r, std::int64_t column) {
    return strip.c + 2 * ((row + r) * strip.cRowStride + column * strip.cColumnStride);
  };
  if (begin != 0) {
    for (int r = 0; r < kRows; ++r)
      for (std::int64_t j = 0; j < strip.columns; ++j) {
        res[r][j] = number(r, j)[0];
        ims[r][j] = number(r, j)[1];
      }
    std::memcpy(re, res, sizeof re);
    std::memcpy(im, ims, sizeof im);
  }
  const Part* left = strip.left + 2 * (row * strip.leftStride + begin * strip.leftDepthStride);
  for (std::int64_t k = 0; k < depth; ++k) {
    Lanes c, d;
    std::memcpy(&c, laid.re[k], sizeof c);
    std::memcpy(&d, laid.im[k], sizeof d);
    for (int r = 0; r < kRows; ++r) {
      const Part* x = left + 2 * (r * strip.leftStride + k * strip.leftDepthStride);
      const double a = x[0], b = x[1];
      re[r] += __builtin_convertvector(a * c - b * d, Sums);
      im[r] += __builtin_convertvector(a * d + b * c, Sums);
    }
  }
  std::memcpy(res, re, sizeof re);
  std::memcpy(ims, im, sizeof im);
  for (int r = 0; r < kRows; ++r)
    for (std::int64_t j = 0; j < strip.columns; ++j) {
      number(r, j)[0] = res[r][j];
      number(r, j)[1] = ims[r][j];
    }
}

/// Each part of a product is computed in f64 and rounded to Part, and so is each sum.
template <typename Part> OCTAVO_INTO_CLONES void multiplyStrip(const Strip<Part>& strip) {
  constexpr int kRows = 2;
  Laid laid = {};
  std::int64_t begin = 0;
  do {
    const std::int64_t depth = std::min(kDepth, strip.depth - begin);
    for (std::int64_t j = 0; j < strip.columns; ++j)
      for (std::int64_t k = 0; k < depth; ++k) {
        const Part* x =
            strip.right + 2 * (j * strip.rightStride + (begin + k) * strip.rightDepthStride);
        laid.re[k][j] = x[0];
        laid.im[k][j] = x[1];
      }
    std::int64_t row = 0;
    for (; row + kRows <= strip.rows; row += kRows)
      addRows<kRows>(strip, laid, row, begin, depth);
    for (; row < strip.rows; ++row)
      addRows<1>(strip, laid, row, begin, depth);
    begin += depth;
  } while (begin < strip.depth);
}

/// Swaps the operands and transposes the result.
template <typename Part> void turn(Strip<Part>& product) {
  std::swap(product.left, product.right);
  std::swap(product.leftStride, product.rightStride);
  std::swap(product.leftDepthStride, product.rightDepthStride);
  std::swap(product.cRowStride, product.cColumnStride);
  std::swap(product.rows, product.columns);
}

/// Rows that share one laid out piece of the right operand.
constexpr std::int64_t kBand = 64;

template <typename Part>
Strip<Part> stripOf(Strip<Part> product, std::int64_t row, std::int64_t column) {
  product.left += 2 * row * product.leftStride;
  product.right += 2 * column * product.rightStride;
  product.c += 2 * (row * product.cRowStride + column * product.cColumnStride);
  product.rows = std::min(kBand, product.rows - row);
  product.columns = std::min(kLanes, product.columns - column);
  return product;
}

} // namespace

OCTAVO_VECTOR_CLONES void multiplyComplex(const Strip<float>& strip) { multiplyStrip(strip); }
OCTAVO_VECTOR_CLONES void multiplyComplex(const Strip<double>& strip) { multiplyStrip(strip); }

template <typename Part>
Outcome ComplexProductStep::multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                                       const kernels::Execution& execution,
                                       Finishing finishing) const {
  constexpr std::int64_t kWorthAThread = 32768;
  const std::int64_t rowsNow = rows.of(frame), columns = this->columns.of(frame),
                     depth = this->depth.of(frame);
  const RowRange products =
      batch.isOne() ? RowRange{0, 1, 1} : range.of(batch.products().of(frame));
  const RowRange own = batch.isOne() ? range.of(rowsNow) : RowRange{0, rowsNow, rowsNow};
  // With few columns, lanes hold rows.
  const bool isTurned = columns < kLanes && own.size() > columns;
  const std::int64_t height = isTurned ? columns : own.size();
  const std::int64_t width = isTurned ? own.size() : columns;
  const std::int64_t strips = (width + kLanes - 1) / kLanes;
  const std::int64_t each = (height + kBand - 1) / kBand * strips; // strips of one product
  const auto productOf = [&](std::int64_t number) {
    const kernels::BatchOffsets at = batch.at(number, frame.items);
    const std::int64_t leftStride = left.stride.of(frame);
    Strip<Part> product{.left = worker.at<const Part>(left.slot) +
                                2 * (left.offset.of(frame) + at.left + own.begin * leftStride),
                        .right = worker.at<const Part>(right.slot) +
                                 2 * (right.offset.of(frame) + at.right),
                        .leftStride = leftStride,
                        .leftDepthStride = left.depthStride.of(frame),
                        .rightStride = right.stride.of(frame),
                        .rightDepthStride = right.depthStride.of(frame),
                        .c = worker.at<Part>(result) + 2 * (at.c + own.begin * columns),
                        .cRowStride = columns,
                        .cColumnStride = 1,
                        .rows = own.size(),
                        .columns = columns,
                        .depth = depth};
    if (isTurned)
      turn(product);
    return product;
  };
  Interruption interruption(frame);
  const std::int64_t ofStrip = std::min(kBand, height) * kLanes * depth;
  const std::int64_t grain = kWorthAThread / std::max<std::int64_t>(1, ofStrip) + 1;
  kernels::forRanges(static_cast<std::size_t>(products.size() * each),
                     static_cast<std::size_t>(grain), execution,
                     [&](std::size_t begin, std::size_t end) {
                       for (auto i = static_cast<std::int64_t>(begin);
                            i != static_cast<std::int64_t>(end) && !interruption.isAsked(); ++i)
                         multiplyComplex(stripOf(productOf(products.begin + i / each),
                                                 i % each / strips * kBand, i % strips * kLanes));
                     });
  if (interruption.wasAsked())
    return program::interruption(*this);
  const std::int64_t first = products.begin * rowsNow + own.begin;
  finishing.finish(first, first + products.size() * own.size());
  return {};
}

Outcome ComplexProductStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                     const kernels::Execution& execution,
                                     Finishing finishing) const {
  return isF64 ? multiplyAs<double>(frame, worker, range, execution, finishing)
               : multiplyAs<float>(frame, worker, range, execution, finishing);
}

StepFacts ComplexProductStep::productFacts() const {
  const auto count = static_cast<double>(batch.offsets.size()), m = static_cast<double>(rows.of(1)),
             k = static_cast<double>(depth.of(1)), n = static_cast<double>(columns.of(1));
  const double width = isF64 ? 16 : 8;
  return {.kind = StepFacts::Kind::Product,
          .detail =
              std::string(isF64 ? "complex<f64> x complex<f64>" : "complex<f32> x complex<f32>") +
              (batch.isOne() ? "" : ", in batches"),
          .bytes = count * width * (m * k + k * n + m * n)};
}

} // namespace octavo::program
