// Converts tensors between element types.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// stablehlo.convert (rule I7). Neither type may be quantized.
/// - Float to float: one rounding by `conversion`; the same format keeps its codes.
/// - Integer to float: one rounding.
/// - Float to integer: toward zero, saturated, NaN to 0.
/// - Integer to integer: wraps.
/// - To boolean: whether the number differs from zero.
/// - Complex to complex: each part. Complex to real: the real part. Real to complex: imaginary part
///   +0.
/// `randomBits` has one number for each element if floats are rounded stochastically, and is empty
/// otherwise.
Tensor convertElements(const Tensor& tensor, const ElementType& type,
                       const numerics::Conversion& conversion = {},
                       std::span<const std::uint32_t> randomBits = {});

/// Converts to `type`: unchanged if it has the type; quantized, requantized or dequantized if
/// either type is quantized; else by convertElements.
Tensor converted(Tensor tensor, const ElementType& type);

/// Complex numbers from real and imaginary parts, tensors of one type and shape.
Tensor complexOfParts(const Tensor& real, const Tensor& imaginary);

/// stablehlo.reduce_precision: rounds floats to the given field widths and keeps the type.
Tensor reducePrecision(const Tensor& tensor, int exponentBits, int trailingSignificandBits);

/// stablehlo.bitcast_convert (rule I8): reinterprets the bits as elements of another width. The
/// lowest bits come first along a new or vanishing last axis. `shape` is the result's and must have
/// the same number of bits.
Tensor bitcastElements(const Tensor& tensor, const ElementType& type,
                       std::vector<std::int64_t> shape);

} // namespace octavo::interpreter
