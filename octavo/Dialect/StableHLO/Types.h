// Predicates of StableHLO's types for the constraints of Base.td, and compatibility of types:
// equal, up to extents that one of them leaves unknown.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

namespace octavo::stablehlo {

/// A ranked tensor. The product of its known extents must fit 63 bits; extents may be `?`.
bool isTensor(mlir::Type type);

/// The same, with all extents known.
bool isStaticTensor(mlir::Type type);

/// A tensor of rank 0.
bool isScalarTensor(mlir::Type type);

/// A tensor of rank 1 and known extent.
bool isShapeTensor(mlir::Type type);

bool isBoolean(mlir::Type type);            ///< i1
bool isInteger(mlir::Type type);            ///< signed or unsigned, not i1
bool isSignedInteger(mlir::Type type);      ///< MLIR's signless, which StableHLO reads as signed
bool isFloat(mlir::Type type);              ///< a float row of the element format table
bool isComplex(mlir::Type type);            ///< complex<f32> or complex<f64>
bool isQuantizedPerTensor(mlir::Type type); ///< !quant.uniform<i8:f32, ...>
bool isQuantizedPerAxis(mlir::Type type);   ///< !quant.uniform<i8:f32:0, {...}>
bool isQuantized(mlir::Type type);          ///< either

/// Bits of an element: both parts of a complex element, the storage of a quantized element.
int bitWidth(mlir::Type element);

/// The specification's baseline equality of element types: equal, or quantized types that differ
/// only in scales and zero points.
bool haveOneBaselineElement(mlir::Type a, mlir::Type b);

/// Whether two shapes have one rank, and on each axis equal extents or an unknown extent. A known
/// extent must not exceed the other's bound.
bool isCompatibleShape(mlir::RankedTensorType a, mlir::RankedTensorType b);

/// Whether a function on elements of `wide` may be given elements of `narrow`: the same kind of
/// type, and `wide` has at least as many bits.
bool isPromotable(mlir::Type narrow, mlir::Type wide);

/// Tensors: compatible shapes and baseline-equal elements. Other types: isCompatible.
bool haveOneBaseline(mlir::Type a, mlir::Type b);

/// Tensors: compatible shapes and equal elements. Tuples: compatible elements. Other types: equal.
bool isCompatible(mlir::Type a, mlir::Type b);
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

/// Merges two types of one baseline: takes the known extent, the smaller bound. Scales and zero
/// points are those of `a`.
mlir::Type mostSpecific(mlir::Type a, mlir::Type b);

/// The type that values of either of two compatible types have: `?` if one extent is unknown, the
/// larger bound if both are bounded.
mlir::Type leastSpecific(mlir::Type a, mlir::Type b);

} // namespace octavo::stablehlo
