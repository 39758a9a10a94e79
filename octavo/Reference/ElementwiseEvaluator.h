// Evaluators of operations that apply one scalar operation to every element.
#pragma once

#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Map.h"
#include "octavo/Reference/UniformQuantization.h"

namespace octavo::reference {

/// The tensor as the one result, or the error for `op`.
inline llvm::Expected<Results> orFailure(mlir::Operation* op, Defined<Tensor> tensor) {
  if (!tensor)
    return failure(op, tensor.error().message());
  return Results{Value(std::move(*tensor))};
}

/// An error for `op` where operands, tensors all, have several shapes: types may leave extents
/// open, so that only here it is seen.
inline llvm::Error requireOneShape(mlir::Operation* op, const Operands& operands) {
  for (const Value& operand : operands)
    if (operand.tensor().shape != operands[0].tensor().shape)
      return failure(op, "takes operands of one shape; found " + describe(operands[0]) + " and " +
                             describe(operand));
  return llvm::Error::success();
}

/// An operation on quantized operands: `compute` on the numbers that they stand for, its result
/// quantized where the type of the result is.
template <typename F>
llvm::Expected<Results> evaluateQuantized(mlir::Operation* op, const Operands& operands,
                                          F compute) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  std::vector<Value> numbers;
  for (const Value& operand : operands)
    numbers.emplace_back(operand.tensor().type.isQuantized() ? dequantizeUniform(operand.tensor())
                                                             : operand.tensor());
  Defined<Tensor> result = compute(Operands(numbers));
  if (!result)
    return failure(op, result.error().message());
  return Results{Value(type->isQuantized() ? quantizeUniform(*result, *type) : std::move(*result))};
}

template <typename Op, std::size_t Arity, std::size_t... I>
llvm::Expected<Results> evaluateMap(mlir::Operation* op, const Operands& operands,
                                    std::index_sequence<I...>) {
  if (operands.size() != Arity)
    return failure(op, "takes " + llvm::Twine(Arity) + " operands");
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  if (operands[0].tensor().type.isQuantized())
    return evaluateQuantized(
        op, operands, [](const Operands& numbers) { return map<Op>(numbers[I].tensor()...); });
  return orFailure(op, map<Op>(operands[I].tensor()...));
}

template <typename Op>
llvm::Expected<Results> evaluateUnary(mlir::Operation* op, const Operands& operands, Evaluation&) {
  return evaluateMap<Op, 1>(op, operands, std::make_index_sequence<1>{});
}

template <typename Op>
llvm::Expected<Results> evaluateBinary(mlir::Operation* op, const Operands& operands, Evaluation&) {
  return evaluateMap<Op, 2>(op, operands, std::make_index_sequence<2>{});
}

} // namespace octavo::reference
