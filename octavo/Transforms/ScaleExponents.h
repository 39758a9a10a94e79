// Scales that a program makes of exponents held as integers: E8M0 by another name.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>
#include <string>

namespace octavo::transforms {

/// Floats that follow from codes of 8 bits, element by element.
struct Exponents {
  mlir::Value codes; ///< a tensor of i8 or ui8
  /// Codes 0 and 255 where the program does not compute 2^-127 and NaN of them: "2^-127 and NaN of
  /// codes 0 and 255, of which the program computes 0 and inf"; else empty.
  std::string difference;
};

/// Whether a value is 2^(code - 127) for all codes from 1 to 254: the interpreter evaluates the
/// operations between, whatever they are (shifts and a bitcast, exponentials, powers), on all 256.
std::optional<Exponents> exponentsOf(mlir::Value scales);

} // namespace octavo::transforms
