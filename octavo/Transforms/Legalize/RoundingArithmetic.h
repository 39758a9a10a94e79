// Rounding to an element format as operations of StableHLO on integers: rules N3 to N7.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Transforms/Legalize/ArithmeticWriter.h"

namespace octavo::transforms {

/// Floats as integers: the magnitude is significand * 2^(exponent - digits), and the significand
/// has its leading bit at `digits`, or is 0. All are tensors of one integer type, and of i1.
struct FloatParts {
  mlir::Value significand, exponent, isNegative, isNan, isInf;
  int digits = 0;
};

/// Of f32 in i32 and of f64 in i64. Subnormals are normalized.
FloatParts floatParts(ArithmeticWriter& writer, mlir::Value value);

/// How values become codes.
struct CodeRules {
  numerics::Rounding rounding = numerics::Rounding::TiesToEven;
  numerics::Overflow overflow = numerics::Overflow::Special; ///< of finite values
  numerics::Overflow infinite = numerics::Overflow::Special;
  numerics::NanCode nan = numerics::NanCode::NegativeZero;
  numerics::Int8Range int8 = numerics::Int8Range::Full;
  bool isZeroPositive = false; ///< a value that rounds to 0 has the code of +0
};

/// The codes of a format with at most as many significand bits as the values, in the integer type
/// of their parts. `random` is ui32, there where the rounding is stochastic.
mlir::Value roundedCodes(ArithmeticWriter& writer, const FloatParts& parts,
                         const format::ElementFormat& format, const CodeRules& rules,
                         mlir::Value random);

/// Codes in an integer type as a tensor of codesType.
mlir::Value asFormat(ArithmeticWriter& writer, mlir::Value codes,
                     const format::ElementFormat& format);

/// The f32 values of a tensor that asFormat gives: of int8, in units of 2^-6.
mlir::Value valuesOf(ArithmeticWriter& writer, mlir::Value codes,
                     const format::ElementFormat& format);

/// What is computed in a float type: f32 rounded to it, ties to even, and back.
mlir::Value roundedTo(ArithmeticWriter& writer, mlir::Value value,
                      const format::ElementFormat& format);

} // namespace octavo::transforms
