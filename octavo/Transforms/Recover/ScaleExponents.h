// Scales that a program makes of exponents held as integers: E8M0 by another name.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace octavo::transforms {

/// Floats that follow from codes of 8 bits, element by element.
struct Exponents {
  mlir::Value codes; ///< a tensor of i8, ui8 or f8E8M0FNU
  /// Reshapes, transposes and broadcasts on the way to the codes, from the floats on.
  llvm::SmallVector<mlir::Operation*> moves;
  bool isReciprocal = false; ///< 2^(127 - code), else 2^(code - 127)
  /// What the program computes otherwise: "2^-127 and NaN of codes 0 and 255, of which the program
  /// computes 0 and inf"; else empty.
  std::string difference = {};
};

/// Whether a value is 2^(code - 127), or 2^(127 - code), for all codes but those of the smallest
/// scale and of NaN: the interpreter evaluates the operations between, whatever they are (shifts
/// and a bitcast, exponentials, powers), on all 256.
std::optional<Exponents> exponentsOf(mlir::Value scales);

/// Whether a value is elements times 2^(code - 127), or 2^(127 - code): codes of `elements`, which
/// is of a narrow float, are what `leaves` hold, converted or not. The interpreter evaluates the
/// operations between (as ldexp and additions to exponent fields are written) on every pair of
/// codes; products in f32's normal range must be those. The moves bring codes to the elements.
std::optional<Exponents> exponentsOf(mlir::Value scaled, mlir::Value elements,
                                     llvm::ArrayRef<mlir::Value> leaves);

} // namespace octavo::transforms
