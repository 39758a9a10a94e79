// Elements of a tensor as numbers: decoded to f64, f32 or 64-bit integers, and back.
#pragma once

#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Tensor.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace octavo::reference {

using format::ElementFormat;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::Tensor;

inline const ElementType kF32{format::element("f32")};
inline const ElementType kF64{format::element("f64")};
inline const ElementType kBoolean{IntegerType{1, false}};

/// x, or the positive quiet NaN where x is any NaN (rule I3).
template <typename Real> inline Real canonicalNan(Real x) {
  return x == x ? x : std::numeric_limits<Real>::quiet_NaN();
}

/// Values of a float tensor in f64: exact for every format.
std::vector<double> decodeElements(const Tensor& tensor);

/// Values of a float tensor in f32: exact for every format but f64, which is rounded once.
std::vector<float> decodeToF32(const Tensor& tensor);

/// A float tensor of `values`, each rounded once, ties to even, Overflow::Special (rule I2).
Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const double> values);

/// The code of an integer type extended to 64 bits: by its sign, or by zeros if the type is
/// unsigned or boolean.
inline std::uint64_t extend(IntegerType type, std::uint64_t code) {
  if (type.width == 64)
    return code;
  const std::uint64_t mask = (std::uint64_t{1} << type.width) - 1;
  code &= mask;
  const bool negative = !type.isUnsigned && type.width > 1 && (code >> (type.width - 1)) != 0;
  return negative ? code | ~mask : code;
}

/// The low bits of a 64-bit integer that a type keeps: what wrapping means.
inline std::uint64_t truncate(IntegerType type, std::uint64_t value) {
  return type.width == 64 ? value : value & ((std::uint64_t{1} << type.width) - 1);
}

/// Whether an extended integer is below zero.
inline bool isNegative(IntegerType type, std::uint64_t extended) {
  return !type.isUnsigned && type.width > 1 && static_cast<std::int64_t>(extended) < 0;
}

/// Elements of an integer tensor, extended.
std::vector<std::uint64_t> decodeIntegers(const Tensor& tensor);

/// An integer tensor of `values`, each truncated.
Tensor encodeIntegers(IntegerType type, std::vector<std::int64_t> shape,
                      std::span<const std::uint64_t> values);

} // namespace octavo::reference
