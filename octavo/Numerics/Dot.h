// Dot products of vectors of narrow floats, scaled or not: OCP MX 6.1 and 6.2, docs/semantics.md.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <span>

namespace octavo::numerics {

/// One block's dot product before scaling: the exact sum of products of decoded elements, rounded
/// once to f64. Exact for every pair of narrow formats and length up to 2^40; the sum is kept in
/// units of the product of both quanta. Non-finite elements follow IEEE 754 (Inf * 0 is NaN, ...).
double elementDot(const ElementFormat& a, std::span<const std::uint8_t> x, const ElementFormat& b,
                  std::span<const std::uint8_t> y);

/// One scaled operand of a general dot (OCP MX 6.2): codes of a vector of K elements, the code of
/// each block's scale, the block size on this vector (the last block may be short).
struct ScaledVector {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t blockSize;
  std::span<const std::uint8_t> elements;
  std::span<const std::uint32_t> scales;
  float outer = 1.0f;
};

/// The dot of two scaled vectors. K is cut at the block edges of both; each piece gives
/// f32(exact element sum * scale of x * scale of y), formed in f64 and rounded once; pieces are
/// added in f32 in order of K from +0; at the end the outer scales multiply. Both vectors have the
/// same K, at most 2^40 in a piece.
float dot(const ScaledVector& x, const ScaledVector& y);

/// A sum times the outer scales of both sides: by their f32 product, in f32, or, where that is not
/// a normal number, by both in f64, rounded once.
float timesOuterScales(float sum, float a, float b);

} // namespace octavo::numerics
