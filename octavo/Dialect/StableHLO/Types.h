// Predicates of StableHLO's types, as Base.td's constraints call them.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace octavo::stablehlo {

/// A ranked tensor whose extents are all known and whose number of elements fits 63 bits.
bool isStaticTensor(mlir::Type type);

bool isBoolean(mlir::Type type);       ///< i1
bool isInteger(mlir::Type type);       ///< signed or unsigned, not i1
bool isSignedInteger(mlir::Type type); ///< MLIR's signless, which StableHLO reads as signed
bool isFloat(mlir::Type type);         ///< a float row of the element format table
bool isComplex(mlir::Type type);       ///< complex<f32> or complex<f64>

/// Width of an element in bits, both parts of a complex one.
int bitWidth(mlir::Type element);

} // namespace octavo::stablehlo
