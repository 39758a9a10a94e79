// Recognizes arithmetic that decodes 8-bit codes to floats.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::transforms {

/// Codes that arithmetic decodes to floats.
struct DecodedCodes {
  mlir::Value codes; ///< tensor of i8 or ui8
  /// Reshapes, transposes and broadcasts between the floats and the codes, from the floats on.
  llvm::SmallVector<mlir::Operation*> moves;
  const format::ElementFormat* format;
};

/// Whether `floats`, the result of a bitcast, are the values of a format's codes. The operations
/// between are evaluated on all 256 codes, whatever they are. nullopt if not.
std::optional<DecodedCodes> decodedCodes(mlir::Value floats);

} // namespace octavo::transforms
