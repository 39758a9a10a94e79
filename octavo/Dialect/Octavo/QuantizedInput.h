// Finds the tensor that a quantization reads, by the name that the author of the program knows.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::ir {

/// The name of an argument: its attribute `octavo.name`, else the name in its location, else
/// "argN".
std::string argumentName(mlir::func::FuncOp function, unsigned index);

/// The index of an element, one number for each axis.
using TensorPlace = llvm::SmallVector<std::int64_t>;

/// A tensor of the program, and an element of it.
struct QuantizedInput {
  std::string name; ///< `argument "x"`, `the result of net/tanh`
  /// Index of the element in that tensor; nullopt if no place was given or it is unknown.
  std::optional<TensorPlace> place;
};

/// The tensor from which the operand of `op` comes through operations that only move, convert or
/// pad values. For example, patches of a convolution come from its input. `place` is an index into
/// the operand; the result's place is where that element was.
QuantizedInput quantizedInput(QuantizeOp op, std::optional<TensorPlace> place);

} // namespace octavo::ir
