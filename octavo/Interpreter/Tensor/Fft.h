// Discrete Fourier transforms of complex tensors.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <span>

namespace octavo::interpreter {

enum class FftDirection { Forward, Inverse };

/// Transforms the last `axes` axes of a complex tensor, computed in a wider type than its own; the
/// inverse divides by the number of elements of those axes.
Tensor fft(const Tensor& tensor, std::int64_t axes, FftDirection direction);

/// The same of a real tensor (f32 or f64): of the last axis only the first n / 2 + 1 numbers.
Tensor realFft(const Tensor& tensor, std::int64_t axes);

/// Its inverse: the last axis of the result has `length` numbers, those that the operand lacks are
/// the conjugates of those that it has.
Tensor inverseRealFft(const Tensor& tensor, std::int64_t axes, std::int64_t length);

} // namespace octavo::interpreter
