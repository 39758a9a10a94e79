// Floats that a program decodes from codes of 8 bits by arithmetic.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::transforms {

struct DecodedCodes {
  mlir::Value codes; ///< a tensor of i8 or ui8
  /// Reshapes, transposes and broadcasts on the way to the codes, from the floats on.
  llvm::SmallVector<mlir::Operation*> moves;
  const format::ElementFormat* format;
};

/// Of the result of a bitcast to floats: whether they are the values of a format's codes, of all
/// 256, whatever the operations between are.
std::optional<DecodedCodes> decodedCodes(mlir::Value floats);

} // namespace octavo::transforms
