// Evaluators of operations that apply one scalar operation to every element.
#pragma once

#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Map.h"

namespace octavo::reference {

template <typename Op, std::size_t Arity, std::size_t... I>
llvm::Expected<Results> evaluateMap(mlir::Operation* op, const Operands& operands,
                                    std::index_sequence<I...>) {
  if (operands.size() != Arity)
    return failure(op, "takes " + llvm::Twine(Arity) + " operands");
  const Tensor& first = operands[0].tensor();
  if (!isDefinedOn<Op>(first.type))
    return failure(op, "is not defined on elements of " + first.type.name());
  return Results{Value(map<Op>(operands[I].tensor()...))};
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
