// octavo.dot_general on two scaled tensors (rule I13): numerics::dot for every element of the
// result, bit for bit, fast enough to run a model.
#pragma once

#include "octavo/Interpreter/Products/OperandLayout.h"
#include "octavo/Numerics/Scaled.h"

#include <vector>

namespace octavo::interpreter {

/// The products in f32, row-major in dotShape. The contracted index is cut wherever the block of
/// either operand changes. Contracted extents and batch extents of both sides must agree.
std::vector<float> scaledDotGeneral(const numerics::ScaledTensor& lhs,
                                    const numerics::ScaledTensor& rhs,
                                    const DotDimensions& dimensions);

/// How an exact sum of products of elements can be formed.
enum class ExactSum {
  InF32,   ///< f32 holds every partial sum, for all codes of both formats
  InF64,   ///< f64 does
  Depends, ///< on the elements: f64 where their exponents lie close enough together
};

/// What holds for sums of at most `length` products of elements of two formats.
ExactSum exactSum(const format::ElementFormat& lhs, const format::ElementFormat& rhs,
                  std::int64_t length);

} // namespace octavo::interpreter
