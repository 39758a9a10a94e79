// Predicates of StableHLO's types, as Base.td's constraints call them, and the one notion of types
// that fit: equal up to what either leaves unknown.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

namespace octavo::stablehlo {

/// A ranked tensor whose number of elements fits 63 bits as far as its extents are known. Extents
/// may be `?`.
bool isTensor(mlir::Type type);

/// The same with all extents known.
bool isStaticTensor(mlir::Type type);

/// A tensor of rank 0.
bool isScalarTensor(mlir::Type type);

/// A list of numbers of known length.
bool isShapeTensor(mlir::Type type);

bool isBoolean(mlir::Type type);            ///< i1
bool isInteger(mlir::Type type);            ///< signed or unsigned, not i1
bool isSignedInteger(mlir::Type type);      ///< MLIR's signless, which StableHLO reads as signed
bool isFloat(mlir::Type type);              ///< a float row of the element format table
bool isComplex(mlir::Type type);            ///< complex<f32> or complex<f64>
bool isQuantizedPerTensor(mlir::Type type); ///< !quant.uniform<i8:f32, ...>
bool isQuantizedPerAxis(mlir::Type type);   ///< !quant.uniform<i8:f32:0, {...}>
bool isQuantized(mlir::Type type);          ///< either

/// Width of an element in bits, both parts of a complex one, the storage of a quantized one.
int bitWidth(mlir::Type element);

/// The specification's baseline equality of elements: equal, or quantized with one storage type and
/// range, one expressed type and, per axis, one quantization dimension; scales and zero points may
/// differ.
bool haveOneBaselineElement(mlir::Type a, mlir::Type b);

/// Whether two shapes may be one: of one rank, and on each axis equal or one of them unknown,
/// within the bound where one is bounded.
bool isCompatibleShape(mlir::RankedTensorType a, mlir::RankedTensorType b);

/// Whether a function on elements of `wide` may be given elements of `narrow`: the same kind, no
/// narrower.
bool isPromotable(mlir::Type narrow, mlir::Type wide);

/// Tensors of compatible shapes and baseline elements; any other type compatible.
bool haveOneBaseline(mlir::Type a, mlir::Type b);

/// Tensors of compatible shapes and equal elements; tuples of compatible types; any other type
/// equal.
bool isCompatible(mlir::Type a, mlir::Type b);
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

/// Of two types of one baseline, what both say together: the known extent, the smaller bound.
/// Scales and zero points are those of `a`.
mlir::Type mostSpecific(mlir::Type a, mlir::Type b);

/// What is true of values of either of two compatible types: `?` where one does not know the
/// extent, the larger bound where both have one.
mlir::Type leastSpecific(mlir::Type a, mlir::Type b);

} // namespace octavo::stablehlo
