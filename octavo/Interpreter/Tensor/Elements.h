// Decodes the elements of a tensor to f64, f32 or 64-bit integers, and encodes them.
#pragma once

#include "octavo/Interpreter/Tensor/Codec.h"
#include "octavo/Numerics/Tensor.h"

#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace octavo::interpreter {

using numerics::ComplexType;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::QuantizedType;
using numerics::Tensor;

/// Frequent element types.
inline const ElementType kF32{format::element("f32")};
inline const ElementType kF64{format::element("f64")};
inline const ElementType kBoolean{IntegerType{1, false}};

/// Values of a float tensor in f64: exact for every format.
std::vector<double> decodeElements(const Tensor& tensor);

/// Values of a float tensor in f32: exact for every format but f64, which is rounded once.
std::vector<float> decodeToF32(const Tensor& tensor);

/// Values of a complex tensor, exact.
std::vector<std::complex<double>> decodeComplex(const Tensor& tensor);

/// A float tensor of `values`, each rounded once, ties to even, Overflow::Special (rule I2).
Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const double> values);
Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const float> values);

/// A complex tensor of `values`, each part rounded as encodeElements does.
Tensor encodeComplex(const ElementFormat& part, std::vector<std::int64_t> shape,
                     std::span<const std::complex<double>> values);

/// Elements of an integer tensor, extended to 64 bits.
std::vector<std::uint64_t> decodeIntegers(const Tensor& tensor);

/// An integer tensor of `values`, each truncated to the type.
Tensor encodeIntegers(IntegerType type, std::vector<std::int64_t> shape,
                      std::span<const std::uint64_t> values);

} // namespace octavo::interpreter
