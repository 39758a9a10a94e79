// What the operations of the octavo dialect compute, as operations of StableHLO.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/Diagnostics.h"

namespace octavo::transforms {

/// A scaled tensor as plain ones. `outer` is null where the type has none.
struct ScaledParts {
  mlir::Value elements, scales, outer;
};

/// The error of extents that are not known, for which nothing is written here.
mlir::InFlightDiagnostic emitOpenExtents(mlir::Operation* at, mlir::Type found);

/// Whether the codes of a part of a tensor need nothing of the rest of it but its amax.
bool isOfAmaxAlone(ir::ScaledType type, ir::QuantizationAttr quantization, mlir::Type input);

/// What makes the amax of a part of a tensor that of the whole: of each block, where blocks go
/// beyond the part, and of the part itself for an outer scale.
struct AmaxOfWhole {
  llvm::function_ref<mlir::Value(mlir::Value)> ofBlocks = nullptr, ofTensor = nullptr;
};

/// The codes that octavo.quantize gives, where the policy is `error` of finite values. `random` is
/// there where the rounding is stochastic; `whole` is used where isOfAmaxAlone. Extents are known.
/// Elements that MLIR has no type of are codes in ui8.
ScaledParts emitQuantize(mlir::OpBuilder& builder, mlir::Location location, mlir::Value operand,
                         mlir::Value random, ir::ScaledType type, ir::QuantizationAttr quantization,
                         const AmaxOfWhole& whole = {});

/// The f32 values that octavo.dequantize gives.
mlir::Value emitDequantize(mlir::OpBuilder& builder, mlir::Location location,
                           const ScaledParts& parts, ir::ScaledType type);

/// A float tensor in f32.
mlir::Value emitWiden(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);

/// The product of two f32 tensors, in f32, converted to the result's type.
mlir::Value emitDot(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lhs,
                    mlir::Value rhs, stablehlo::DotDimensionNumbersAttr dimensions,
                    mlir::RankedTensorType result);

/// The value of octavo.convert. Fails, with an error, where it rounds or saturates in a way that is
/// not written here.
mlir::FailureOr<mlir::Value> emitConvert(mlir::OpBuilder& builder, ir::ConvertOp op);

} // namespace octavo::transforms
