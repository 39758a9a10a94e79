// Elementwise comparison.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>

namespace octavo::interpreter {

/// Numbered as the dialects' comparison_direction.
enum class Relation : std::uint8_t { EQ, NE, GE, GT, LE, LT };

/// Whether the relation holds for each pair of elements (rule I9), as i1. Complex numbers are
/// ordered by the real part, then by the imaginary part. `isTotalOrder` is only for floats. Both
/// tensors must have the same type and shape.
Tensor compare(Relation relation, bool isTotalOrder, const Tensor& lhs, const Tensor& rhs);

} // namespace octavo::interpreter
