// The operations on the sums of a product before they are stored: docs/semantics.md, P1 to P9.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>

namespace octavo::kernels {

enum class Activation : std::uint8_t {
  None,
  Relu,     ///< x < 0 ? 0 : x
  GeluErf,  ///< x * Phi(x), Phi the normal distribution
  GeluTanh, ///< x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
  Silu,     ///< x / (1 + exp(-x))
};

/// The steps of an epilogue, each in f32 and rounded once:
///  1. value = activation(product + addend + bias) + residual
///  2. amax of the values
///  3. conversion to `format`
/// A null pointer omits its operand. Matrices are [batch, M, N], row-major.
struct Epilogue {
  const float* addend = nullptr; ///< may alias the output if that is f32
  const float* bias = nullptr;   ///< one float per column
  std::int64_t biasStride = 0;   ///< floats between biases of consecutive products of a batch
  Activation activation = Activation::None;
  const float* residual = nullptr; ///< may alias the output if that is f32
  float* amax = nullptr;           ///< output: the largest |value|, NaN if a value is NaN
  /// f32, bf16, f16, or a narrow format: codes of value / scale, one per byte.
  const format::ElementFormat* format = &format::element("f32");
  float scale = 1.0f;
};

} // namespace octavo::kernels
