// Converts elements attributes to tensors and back.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace octavo::interpreter {

/// The tensor of a dense attribute (splat, dense or resource). An error at `op` if the attribute is
/// of another kind, octavo does not have its element type, or a resource has another number of
/// bytes than its type needs.
llvm::Expected<Tensor> constantTensor(mlir::Operation* op, mlir::ElementsAttr attribute);

/// The dense attribute of a tensor that is not quantized; the inverse of constantTensor.
mlir::DenseElementsAttr constantAttribute(mlir::MLIRContext* context, const Tensor& tensor);

} // namespace octavo::interpreter
