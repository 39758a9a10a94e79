// Writes rounding to an element format as StableHLO integer operations (rules N3 to N7).
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Transforms/Legalize/ArithmeticWriter.h"

namespace octavo::transforms {

/// Floats split into integers: magnitude = significand * 2^(exponent - digits). The significand has
/// its leading bit at bit `digits`, or is 0. The numbers are tensors of one integer type, the
/// predicates of i1.
struct FloatParts {
  mlir::Value significand, exponent, isNegative, isNan, isInf;
  int digits = 0;
};

/// The parts of f32 in i32, of f64 in i64. Subnormals are normalized.
FloatParts floatParts(ArithmeticWriter& writer, mlir::Value value);

/// The rules by which values become codes.
struct CodeRules {
  numerics::Rounding rounding = numerics::Rounding::TiesToEven;
  numerics::Overflow overflow = numerics::Overflow::Special; ///< for finite values
  numerics::Overflow infinite = numerics::Overflow::Special;
  numerics::NanCode nan = numerics::NanCode::NegativeZero;
  numerics::Int8Range int8 = numerics::Int8Range::Full;
  bool isZeroPositive = false; ///< a value that rounds to 0 has the code of +0
};

/// The codes in `format`, whose significand has at most as many bits as the values', in the integer
/// type of the parts. `random`: ui32, used if rounding is stochastic.
mlir::Value roundedCodes(ArithmeticWriter& writer, const FloatParts& parts,
                         const format::ElementFormat& format, const CodeRules& rules,
                         mlir::Value random);

/// Integer codes as a tensor of codesType.
mlir::Value asFormat(ArithmeticWriter& writer, mlir::Value codes,
                     const format::ElementFormat& format);

/// The f32 values of a tensor from asFormat; int8 in units of 2^-6.
mlir::Value valuesOf(ArithmeticWriter& writer, mlir::Value codes,
                     const format::ElementFormat& format);

/// Rounds f32 to a float format, ties to even, and converts back.
mlir::Value roundedTo(ArithmeticWriter& writer, mlir::Value value,
                      const format::ElementFormat& format);

} // namespace octavo::transforms
