// Discrete Fourier transforms of complex tensors.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <span>

namespace octavo::interpreter {

/// Forward uses exp(-2 pi i jk / n), inverse the conjugate.
enum class FftDirection { Forward, Inverse };

/// Transforms the last `axes` axes of a complex tensor, computed in a wider type. The inverse
/// divides by the number of elements of those axes.
Tensor fft(const Tensor& tensor, std::int64_t axes, FftDirection direction);

/// The transform of a real tensor (f32 or f64). Only the first n / 2 + 1 numbers of the last axis
/// are kept.
Tensor realFft(const Tensor& tensor, std::int64_t axes);

/// The inverse of realFft: the last axis of the result has `length` numbers. Frequencies that the
/// operand lacks are the conjugates of those that it has.
Tensor inverseRealFft(const Tensor& tensor, std::int64_t axes, std::int64_t length);

} // namespace octavo::interpreter
