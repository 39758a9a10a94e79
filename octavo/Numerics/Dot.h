// Scalar dot products of vectors in narrow formats, with and without scales: OCP MX 6.1 and 6.2,
// docs/semantics.md.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <span>

namespace octavo::numerics {

/// The dot product of one block before scaling: the sum of products of decoded elements, exact for
/// every pair of narrow formats and lengths up to 2^40, then rounded once to f64. The sum is kept
/// in units of the product of both quanta. Non-finite elements follow IEEE 754 (Inf * 0 is NaN).
/// `x` and `y` have the same length.
double elementDot(const ElementFormat& a, std::span<const std::uint8_t> x, const ElementFormat& b,
                  std::span<const std::uint8_t> y);

/// One scaled operand of a general dot (OCP MX 6.2): the codes of K elements and the scale code of
/// each block of `blockSize` elements. The last block may be short.
struct ScaledVector {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t blockSize;
  std::span<const std::uint8_t> elements;
  std::span<const std::uint32_t> scales;
  float outer = 1.0f;
};

/// The dot of two scaled vectors. K is cut at the block edges of both. Each piece gives
/// f32(exact element sum * scale of x * scale of y), formed in f64 and rounded once. Pieces are
/// added in f32, in order of K, from +0. The sum is then multiplied by the outer scales. Both
/// vectors have the same K; a piece has at most 2^40 elements.
float dot(const ScaledVector& x, const ScaledVector& y);

/// sum * a * b for the outer scales `a` and `b`. If the f32 product a * b is a normal number, the
/// sum is multiplied by it in f32. Otherwise the result is formed in f64 and rounded once.
float timesOuterScales(float sum, float a, float b);

} // namespace octavo::numerics
