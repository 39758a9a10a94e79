// octavo.dot_general of two scaled tensors (rule I13). Each element equals numerics::dot, bit for
// bit, but is computed fast enough to run a model.
#pragma once

#include "octavo/Interpreter/Products/OperandLayout.h"
#include "octavo/Numerics/Scaled.h"

#include <vector>

namespace octavo::interpreter {

/// The products in f32, row-major in dotShape. The contracted index is split wherever the block of
/// either operand changes. Paired batch and contracted extents must be equal.
std::vector<float> scaledDotGeneral(const numerics::ScaledTensor& lhs,
                                    const numerics::ScaledTensor& rhs,
                                    const DotDimensions& dimensions);

/// Which arithmetic gives exact sums of products of elements.
enum class ExactSum {
  InF32,   ///< f32 represents every partial sum, for all codes of both formats
  InF64,   ///< f64 represents every partial sum
  Depends, ///< depends on the elements: f64 if their exponents are close enough
};

/// The arithmetic for sums of at most `length` products of elements of the two formats.
ExactSum exactSum(const format::ElementFormat& lhs, const format::ElementFormat& rhs,
                  std::int64_t length);

} // namespace octavo::interpreter
