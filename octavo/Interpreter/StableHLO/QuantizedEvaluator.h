// What evaluators of operations on quantized tensors (rule I25) have in common.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The type of the numbers that the first result of `op` consists of or stands for.
llvm::Expected<ElementType> resultNumberType(mlir::Operation* op);

/// Elements that `op` moved as they are, as its first result: one that is quantized per axis has
/// that axis elsewhere. An error for `op` where its scales do not fit the shape.
llvm::Expected<Value> moved(mlir::Operation* op, Tensor tensor);

/// Numbers as a tensor of `type`, which is quantized. An error for `op` where its scales do not fit
/// the shape.
llvm::Expected<Tensor> quantized(mlir::Operation* op, const Tensor& numbers,
                                 const ElementType& type);

} // namespace octavo::interpreter
