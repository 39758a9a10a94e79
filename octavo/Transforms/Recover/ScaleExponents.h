// Recognizes E8M0 scales that a program computes from exponents held as integers.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace octavo::transforms {

/// Floats computed element by element from 8-bit codes.
struct Exponents {
  mlir::Value codes; ///< tensor of i8, ui8 or f8E8M0FNU
  /// Reshapes, transposes and broadcasts between the floats and the codes, from the floats on.
  llvm::SmallVector<mlir::Operation*> moves;
  bool isReciprocal = false; ///< the floats are 2^(127 - code); else 2^(code - 127)
  /// How the program's values differ from E8M0: "2^-127 and NaN of codes 0 and 255, of which the
  /// program computes 0 and inf"; mostly empty.
  std::string difference = {};
};

/// Whether a value is 2^(code - 127) or 2^(127 - code) for all codes, except possibly those of the
/// smallest scale and of NaN. The interpreter evaluates the operations between on all 256 codes,
/// whatever they are (shifts and a bitcast, exponentials, powers). nullopt if not.
std::optional<Exponents> exponentsOf(mlir::Value scales);

/// Whether a value is `elements`, a tensor of narrow floats, times 2^(code - 127) or 2^(127 -
/// code). `leaves` hold the elements, in their format or converted. The interpreter evaluates the
/// operations between (ldexp, additions to the exponent field) on every pair of element and code;
/// products in f32's normal range must be exact. The moves bring codes to the elements' indices.
std::optional<Exponents> exponentsOf(mlir::Value scaled, mlir::Value elements,
                                     llvm::ArrayRef<mlir::Value> leaves);

} // namespace octavo::transforms
