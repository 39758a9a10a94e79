// Helpers for evaluators of operations on quantized tensors (rule I25).
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The element type of the first result of `op`; for a quantized type, its expressed type.
llvm::Expected<ElementType> resultNumberType(mlir::Operation* op);

/// Gives `tensor`, whose codes `op` only moved, the type of the first result: the quantization axis
/// may have changed. An error at `op` if the scales do not fit the shape.
llvm::Expected<Value> moved(mlir::Operation* op, Tensor tensor);

/// Quantizes numbers to `type`. An error at `op` if the scales do not fit the shape.
llvm::Expected<Tensor> quantized(mlir::Operation* op, const Tensor& numbers,
                                 const ElementType& type);

} // namespace octavo::interpreter
