// Quantizes constants while the program is rewritten.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

namespace octavo::transforms {

/// Elements, scales and outer scale of a constant, ready to be written into the program.
struct QuantizedConstant {
  ir::ScaledType type;
  mlir::DenseElementsAttr elements;
  mlir::DenseElementsAttr scales;
  mlir::DenseElementsAttr outer; ///< null if the type has no outer scale
};

/// Quantizes `values` (f32, bf16 or f16, of the type's shape). Fails with the position of a NaN or
/// Inf that the policy refuses. The formats of `type` must have MLIR types.
llvm::Expected<QuantizedConstant> quantizeConstant(const numerics::Tensor& values,
                                                   ir::ScaledType type,
                                                   const numerics::QuantizeOptions& options);

/// Writes the parts as constants, and an octavo.pack of them, whose result it returns.
mlir::Value materialize(mlir::OpBuilder& builder, mlir::Location location,
                        const QuantizedConstant& constant);

} // namespace octavo::transforms
