// Elements compared with those at the same place.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>

namespace octavo::interpreter {

/// The numbers are those of the dialects' comparison_direction.
enum class Relation : std::uint8_t { EQ, NE, GE, GT, LE, LT };

/// Whether the relation holds for each pair of elements (rule I9), as i1. Complex numbers are
/// ordered by the real part, then by the imaginary part; `isTotalOrder` is for floats. Both tensors
/// must have one type and one shape.
Tensor compare(Relation relation, bool isTotalOrder, const Tensor& lhs, const Tensor& rhs);

} // namespace octavo::interpreter
