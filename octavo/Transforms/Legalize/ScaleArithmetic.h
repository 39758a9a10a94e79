// Writes the operations of the octavo dialect as StableHLO.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/Diagnostics.h"

namespace octavo::transforms {

/// The plain tensors of a scaled tensor. `outer` is null if the type has none.
struct ScaledParts {
  mlir::Value elements, scales, outer;
};

/// Emits the error that extents are not known, for which this file writes nothing.
mlir::InFlightDiagnostic emitOpenExtents(mlir::Operation* at, mlir::Type found);

/// Whether the codes of a part of a tensor depend on the rest only through its amax.
bool isOfAmaxAlone(ir::ScaledType type, ir::QuantizationAttr quantization, mlir::Type input);

/// Functions that turn the amax of a part into that of the whole: of each block, if blocks extend
/// beyond the part, and of the tensor, for an outer scale.
struct AmaxOfWhole {
  llvm::function_ref<mlir::Value(mlir::Value)> ofBlocks = nullptr, ofTensor = nullptr;
};

/// Writes octavo.quantize. Under the policy `error`, values must be finite: nothing here refuses
/// others. `random` is used if rounding is stochastic, `whole` if isOfAmaxAlone. Extents must be
/// known. Elements without an MLIR type are codes in ui8.
ScaledParts emitQuantize(mlir::OpBuilder& builder, mlir::Location location, mlir::Value operand,
                         mlir::Value random, ir::ScaledType type, ir::QuantizationAttr quantization,
                         const AmaxOfWhole& whole = {});

/// Writes octavo.dequantize: the f32 values.
mlir::Value emitDequantize(mlir::OpBuilder& builder, mlir::Location location,
                           const ScaledParts& parts, ir::ScaledType type);

/// Converts a float tensor to f32.
mlir::Value emitWiden(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);

/// The product of two f32 tensors in f32, converted to the type `result`.
mlir::Value emitDot(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lhs,
                    mlir::Value rhs, stablehlo::DotDimensionNumbersAttr dimensions,
                    mlir::RankedTensorType result);

/// Writes octavo.convert. Fails, with an error, if its rounding or saturation is not supported
/// here.
mlir::FailureOr<mlir::Value> emitConvert(mlir::OpBuilder& builder, ir::ConvertOp op);

} // namespace octavo::transforms
