// Writes products of scaled tensors as the operations that XLA knows.
#pragma once

#include "octavo/Transforms/Legalize/ScaleArithmetic.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <string>
#include <variant>

namespace octavo::transforms {

/// A product. A scaled side has parts and a scaled type, another side a plain value.
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

/// The result, or the reason that the form cannot express the product.
using FormOfProduct = std::variant<mlir::Value, std::string>;

/// Writes `stablehlo.composite "xla.scaled_dot"`, and its f32 decompositions into the module.
class ScaledDotComposites {
public:
  explicit ScaledDotComposites(mlir::ModuleOp module) : symbols(module) {}

  /// Writes the composite at the builder's insertion point.
  FormOfProduct write(mlir::OpBuilder& builder, mlir::Location location,
                      const ScaledProduct& product);

private:
  mlir::FlatSymbolRefAttr decomposition(mlir::Location location, const ScaledProduct& product,
                                        mlir::ValueRange operands);

  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::FlatSymbolRefAttr> known; ///< keys: types and dimension numbers
};

/// Writes the custom call `__op$block_scaled_dot`.
FormOfProduct writeBlockScaledDot(mlir::OpBuilder& builder, mlir::Location location,
                                  const ScaledProduct& product);

/// Writes the custom call `__op$quantize` of `operand` in f32, which gives the values of
/// octavo.quantize by the preset xla; otherwise returns the reason that it does not. Two
/// differences remain: under scales of NaN, codes are NaN instead of 0; a block whose amax / 2^emax
/// is not a normal f32 may get the neighboring scale, or NaN.
std::variant<ScaledParts, std::string> writeQuantizeCall(mlir::OpBuilder& builder,
                                                         mlir::Location location,
                                                         mlir::Value operand, ir::ScaledType type,
                                                         ir::QuantizationAttr quantization);

/// Writes the custom call `__op$dequantize` and the product by the outer scale. Null if the call
/// does not have the format, or blocks cut an axis other than the last.
mlir::Value writeDequantizeCall(mlir::OpBuilder& builder, mlir::Location location,
                                const ScaledParts& parts, ir::ScaledType type);

} // namespace octavo::transforms
