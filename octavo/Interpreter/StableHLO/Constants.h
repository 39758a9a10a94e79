// Elements attributes as tensors.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace octavo::interpreter {

/// The tensor that a dense attribute (splat, dense or resource) of `op` holds. An error for `op`
/// where the attribute is of another kind, its element type is none of octavo's, or a resource has
/// not the bytes that its type needs.
llvm::Expected<Tensor> constantTensor(mlir::Operation* op, mlir::ElementsAttr attribute);

/// The dense attribute that holds a tensor, which may not be quantized: constantTensor gives the
/// tensor back.
mlir::DenseElementsAttr constantAttribute(mlir::MLIRContext* context, const Tensor& tensor);

} // namespace octavo::interpreter
