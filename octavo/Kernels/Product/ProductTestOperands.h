// What the tests of products multiply: matrices of drawn codes and scales.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Numerics/Dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace octavo::kernels {

using numerics::ScaledTensor;
using Random = std::mt19937;

struct Shape {
  std::int64_t m, n, k;
};

inline const format::ElementFormat& kE8M0 = format::element("e8m0fnu");
inline const format::ElementFormat& kE4M3 = format::element("e4m3fn");
inline const format::ElementFormat& kF32 = format::element("f32");

inline OperandFormat mx(std::string_view element) {
  return {format::findElementFormat(element), &kE8M0, 1, 32};
}
inline OperandFormat nvfp4() { return operandFormat(*format::findScaledFormat("nvfp4")); }

/// Which scales a matrix draws.
enum class Range {
  Ordinary,
  Extreme, ///< also the ends of the scale format, NaN among them, and blocks of zeros
};

inline std::uint32_t drawScale(const format::ElementFormat& scale, Range range, Random& random) {
  const auto r = static_cast<std::uint32_t>(random());
  if (scale == kF32) {
    const float value = std::ldexp(1 + (r >> 8) * 0x1p-24f, static_cast<int>(r % 9) - 4);
    return std::bit_cast<std::uint32_t>(range == Range::Extreme && r % 7 == 0 ? 0x1p-140f : value);
  }
  if (scale == kE4M3)
    return range == Range::Extreme ? r & 0xFF : 0x20 + r % 0x40;
  if (range == Range::Extreme)
    switch (r / 256 % 5) {
    case 0:
      return r % 4;
    case 1:
      return 252 + r % 4;
    default:
      return r % 256;
    }
  return 120 + r % 16;
}

inline ScaledTensor draw(const OperandFormat& format, std::int64_t rows, std::int64_t depth,
                         Range range, Random& random) {
  auto extent = [](std::int64_t block, std::int64_t n) {
    return block == format::kWholeAxis ? n : std::min(block, n);
  };
  ScaledTensor matrix{.shape = {rows, depth},
                      .type = {format.element,
                               format.scale,
                               {extent(format.across, rows), extent(format.along, depth)},
                               *format.scale == kE4M3},
                      .elements = std::vector<std::uint8_t>(static_cast<std::size_t>(rows * depth)),
                      .scales = {}};
  for (std::uint8_t& code : matrix.elements)
    code = static_cast<std::uint8_t>(random()) & format.element->codeMask();
  const auto grid = format::scaleShape(matrix.shape, matrix.type.block);
  matrix.scales.resize(static_cast<std::size_t>(grid[0] * grid[1]));
  for (std::uint32_t& scale : matrix.scales)
    scale = drawScale(*format.scale, range, random);
  if (range == Range::Extreme)
    for (std::int64_t row = 0; row < rows; row += 3) // a zero block under any scale
      std::fill_n(matrix.elements.begin() + row * depth, std::min<std::int64_t>(32, depth), 0);
  if (matrix.type.hasOuterScale)
    matrix.outer = 0.37f + static_cast<float>(random() % 16);
  return matrix;
}

inline numerics::ScaledVector vectorOf(const ScaledTensor& matrix, std::int64_t row) {
  const std::int64_t depth = matrix.shape[1], along = matrix.type.block[1];
  const std::int64_t grid = (depth + along - 1) / along;
  return {matrix.type.element,
          matrix.type.scale,
          along,
          std::span(matrix.elements).subspan(row * depth, depth),
          std::span(matrix.scales).subspan(row / matrix.type.block[0] * grid, grid),
          matrix.outer};
}

/// As draw, every element a finite number.
inline ScaledTensor drawFinite(const OperandFormat& format, std::int64_t rows, std::int64_t depth,
                               Random& random) {
  ScaledTensor matrix = draw(format, rows, depth, Range::Ordinary, random);
  for (std::uint8_t& code : matrix.elements)
    if (!std::isfinite(numerics::decode(*format.element, code)))
      code = 1;
  return matrix;
}

/// Bits, any NaN being as good as another: which one IEEE 754 leaves open.
inline std::vector<std::uint32_t> bitsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (float value : values)
    bits.push_back(std::isnan(value) ? 0x7FC00000 : std::bit_cast<std::uint32_t>(value));
  return bits;
}

inline std::vector<float> product(const ScaledTensor& a, const ScaledTensor& b,
                                  const ProductPlan& plan, const Execution& execution) {
  std::vector<float> c(static_cast<std::size_t>(a.shape[0] * b.shape[0]), -1.0f);
  multiply(plan, pack(a, Side::Left, plan, execution), pack(b, Side::Right, plan, execution), c,
           execution);
  return c;
}

inline std::vector<float> normals(std::size_t n, float sigma, Random& random) {
  std::normal_distribution<float> normal(0, sigma);
  std::vector<float> values(n);
  for (float& value : values)
    value = normal(random);
  return values;
}

} // namespace octavo::kernels
