// A constant quantized while the program is rewritten.
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
  mlir::DenseElementsAttr outer; ///< null where the type has none
};

/// `values`: f32, bf16 or f16, of the type's shape. The error says where a NaN or an Inf stands
/// that the policy refuses. The formats of the type must have MLIR types.
llvm::Expected<QuantizedConstant> quantizeConstant(const numerics::Tensor& values,
                                                   ir::ScaledType type,
                                                   const numerics::QuantizeOptions& options);

/// Constants and an octavo.pack of them.
mlir::Value materialize(mlir::OpBuilder& builder, mlir::Location location,
                        const QuantizedConstant& constant);

} // namespace octavo::transforms
