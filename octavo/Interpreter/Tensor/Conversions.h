// Conversions between element types that a whole tensor takes.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// stablehlo.convert (rule I7). Float to float: one rounding as `conversion` says; a format to
/// itself keeps its codes. Integer to float: one rounding. Float to integer: toward zero,
/// saturated, NaN to 0. Integer to integer wraps. To boolean: whether it differs from zero. Complex
/// to complex: each part; complex to another: the real part; another to complex: with +0. Neither
/// type may be quantized.
/// Stochastic rounding of floats takes one number an element from `randomBits`, which is otherwise
/// empty.
Tensor convertElements(const Tensor& tensor, const ElementType& type,
                       const numerics::Conversion& conversion = {},
                       std::span<const std::uint32_t> randomBits = {});

/// The tensor in a type: itself where it has it already, quantized, quantized anew or dequantized
/// where either type is quantized, otherwise by convertElements.
Tensor converted(Tensor tensor, const ElementType& type);

/// Complex numbers of two tensors of parts, which have one type and one shape.
Tensor complexOfParts(const Tensor& real, const Tensor& imaginary);

/// stablehlo.reduce_precision: a float tensor rounded to the given field widths, in its own type.
Tensor reducePrecision(const Tensor& tensor, int exponentBits, int trailingSignificandBits);

/// stablehlo.bitcast_convert (rule I8): the same bits as elements of another width, the lowest bits
/// first along a new or vanishing last axis. `shape` is the result's; the total width must agree.
Tensor bitcastElements(const Tensor& tensor, const ElementType& type,
                       std::vector<std::int64_t> shape);

} // namespace octavo::interpreter
