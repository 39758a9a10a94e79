// Products of scaled tensors as the operations by which XLA knows them.
#pragma once

#include "octavo/Transforms/Legalize/ScaleArithmetic.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <string>
#include <variant>

namespace octavo::transforms {

/// A product: sides that are scaled have parts and their type, others a plain value.
struct ScaledProduct {
  struct Side {
    mlir::Value plain;
    ScaledParts parts;
    ir::ScaledType scaled;
  };
  std::array<Side, 2> sides;
  stablehlo::DotDimensionNumbersAttr dimensions;
  mlir::RankedTensorType result;
};

/// The result, or what of the product the form does not say.
using FormOfProduct = std::variant<mlir::Value, std::string>;

/// `stablehlo.composite "xla.scaled_dot"`, whose decompositions, of f32, it puts into the module.
class ScaledDotComposites {
public:
  explicit ScaledDotComposites(mlir::ModuleOp module) : symbols(module) {}

  FormOfProduct write(mlir::OpBuilder& builder, mlir::Location location,
                      const ScaledProduct& product);

private:
  mlir::FlatSymbolRefAttr decomposition(mlir::Location location, const ScaledProduct& product,
                                        mlir::ValueRange operands);

  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::FlatSymbolRefAttr> known; ///< by the types and dimension numbers
};

/// The custom call `__op$block_scaled_dot`.
FormOfProduct writeBlockScaledDot(mlir::OpBuilder& builder, mlir::Location location,
                                  const ScaledProduct& product);

/// The custom call `__op$quantize`, of f32, where it gives the values of octavo.quantize: by the
/// preset xla. Else why it does not. Under scales of
/// NaN codes are NaN in place of 0; a block whose amax / 2^emax is no normal f32 may get the scale
/// beside, or NaN.
std::variant<ScaledParts, std::string> writeQuantizeCall(mlir::OpBuilder& builder,
                                                         mlir::Location location,
                                                         mlir::Value operand, ir::ScaledType type,
                                                         ir::QuantizationAttr quantization);

/// The custom call `__op$dequantize`, then the outer scale; null where the blocks are not along the
/// last axis alone.
mlir::Value writeDequantizeCall(mlir::OpBuilder& builder, mlir::Location location,
                                const ScaledParts& parts, ir::ScaledType type);

} // namespace octavo::transforms
