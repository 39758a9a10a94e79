// What a quantization of a program is given, as whoever wrote the program knows it.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::ir {

/// The name of an argument: its attribute `octavo.name`, else what its location names, else argN.
std::string argumentName(mlir::func::FuncOp function, unsigned index);

using TensorPlace = llvm::SmallVector<std::int64_t>;

struct QuantizedInput {
  std::string name;                 ///< `argument "x"`, `the result of net/tanh`
  std::optional<TensorPlace> place; ///< there; none: not asked for, or not known
};

/// Of an octavo.quantize, the value that nothing moves any more: patches of a convolution are of
/// its input. `place` is one of the operand.
QuantizedInput quantizedInput(QuantizeOp op, std::optional<TensorPlace> place);

} // namespace octavo::ir
