// Recognizes MXINT8 as programs write it: 8-bit integers times E8M0 scales and powers of two.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::transforms {

/// Whether a tensor's element type is E8M0.
bool isE8m0(mlir::Value value);

/// Whether a number is 2^n for an integer n.
bool isPowerOfTwo(double number);

/// Which operand of a product of 8-bit integers and E8M0 scales is the integers; both may be moved
/// and multiplied by powers of two. nullopt otherwise: integers without such scales are not codes.
std::optional<unsigned> sideOfIntegers(mlir::Operation* product);

} // namespace octavo::transforms
