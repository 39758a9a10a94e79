// StableHLO's uniform quantization: number = (storage - zero point) * scale.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// Dequantizes to the expressed type: the difference in integers, converted, times the scale.
Tensor dequantizeUniform(const Tensor& tensor);

/// Quantizes a float tensor of the expressed type of `type`: x / scale + zero point, clamped to the
/// storage's range, in the expressed type; then rounded to an integer, ties to even. NaN gives 0,
/// clamped to the storage's range.
Tensor quantizeUniform(const Tensor& tensor, const ElementType& type);

} // namespace octavo::interpreter
