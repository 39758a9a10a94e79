// Evaluators of operations that apply one scalar operation to each element.
#pragma once

#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Tensor/Map.h"

namespace octavo::interpreter {

/// The tensor as the only result, or an error at `op`.
inline llvm::Expected<Results> orFailure(mlir::Operation* op, Defined<Tensor> tensor) {
  if (!tensor)
    return failure(op, tensor.error().message());
  return Results{Value(std::move(*tensor))};
}

/// An error at `op` if the operands, which are tensors, have different shapes. Types with unknown
/// extents allow that, so it can only be checked here.
inline llvm::Error requireOneShape(mlir::Operation* op, const Operands& operands) {
  for (const Value& operand : operands)
    if (operand.tensor().shape != operands[0].tensor().shape)
      return failure(op, "takes operands of one shape; found " + describe(operands[0]) + " and " +
                             describe(operand));
  return llvm::Error::success();
}

/// Applies `Op` to the operands, whose number must be that of the indices I.
template <typename Op, std::size_t... I>
llvm::Expected<Results> evaluateMap(mlir::Operation* op, const Operands& operands,
                                    std::index_sequence<I...>) {
  if (operands.size() != sizeof...(I))
    return failure(op, "takes " + llvm::Twine(sizeof...(I)) + " operands");
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  return orFailure(op, map<Op>(operands[I].tensor()...));
}

/// Applies `Op` to `Arity` operands; quantized operands are dequantized first.
template <typename Op, std::size_t Arity>
llvm::Expected<Results> evaluateElementwise(mlir::Operation* op, const Operands& operands,
                                            Evaluation& evaluation) {
  return evaluateByNumbers(op, operands, evaluation,
                           [](mlir::Operation* op, const Operands& numbers, Evaluation&) {
                             return evaluateMap<Op>(op, numbers, std::make_index_sequence<Arity>{});
                           });
}

/// The evaluator of an operation with one operand.
template <typename Op>
llvm::Expected<Results> evaluateUnary(mlir::Operation* op, const Operands& operands,
                                      Evaluation& evaluation) {
  return evaluateElementwise<Op, 1>(op, operands, evaluation);
}

/// The evaluator of an operation with two operands.
template <typename Op>
llvm::Expected<Results> evaluateBinary(mlir::Operation* op, const Operands& operands,
                                       Evaluation& evaluation) {
  return evaluateElementwise<Op, 2>(op, operands, evaluation);
}

} // namespace octavo::interpreter
