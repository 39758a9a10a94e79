// StableHLO's uniform quantization: integers that stand for (storage - zero point) * scale.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// The numbers that a quantized tensor stands for, in its expressed type: the difference in
/// integers, converted, times the scale.
Tensor dequantizeUniform(const Tensor& tensor);

/// A float tensor of the expressed type of `type`, quantized: x / scale + zero point, clamped to
/// the storage's range, all in that type; then the nearest integer, ties to even. NaN gives the
/// code 0, clamped to the storage's range.
Tensor quantizeUniform(const Tensor& tensor, const ElementType& type);

} // namespace octavo::interpreter
