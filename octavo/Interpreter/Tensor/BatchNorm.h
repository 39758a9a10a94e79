// Batch normalization by the formulas of the specification, computed in f64. Each result is rounded
// once.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// Operands are float tensors of one format. `scale`, `offset`, `mean` and `variance` have one
/// number for each index of the operand's axis `feature`.
Tensor batchNormInference(const Tensor& operand, const Tensor& scale, const Tensor& offset,
                          const Tensor& mean, const Tensor& variance, double epsilon,
                          std::int64_t feature);

/// The results of batch_norm_training.
struct BatchNormTraining {
  Tensor output, mean, variance;
};
BatchNormTraining batchNormTraining(const Tensor& operand, const Tensor& scale,
                                    const Tensor& offset, double epsilon, std::int64_t feature);

/// The gradients of the operand, the scale and the offset.
struct BatchNormGrad {
  Tensor operand, scale, offset;
};
BatchNormGrad batchNormGrad(const Tensor& operand, const Tensor& scale, const Tensor& mean,
                            const Tensor& variance, const Tensor& gradOutput, double epsilon,
                            std::int64_t feature);

} // namespace octavo::interpreter
