// MXINT8 as programs spell it out: integers of 8 bits times E8M0 scales and powers of two.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::transforms {

/// Whether a tensor's elements are scales of E8M0.
bool isE8m0(mlir::Value value);

/// Whether a number is 2^n.
bool isPowerOfTwo(double number);

/// Of a product of 8-bit integers and E8M0 scales, each perhaps moved about and times powers of
/// two: the operand that the integers are. Integers are no codes without such scales.
std::optional<unsigned> sideOfIntegers(mlir::Operation* product);

} // namespace octavo::transforms
