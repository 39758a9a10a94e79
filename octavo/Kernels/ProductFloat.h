// Packing for the float path of Product.h.
#pragma once

#include "octavo/Kernels/Product.h"

namespace octavo::kernels {

/// The kernels of a plan of floats.
const FloatKernels& floatKernels(const ProductPlan& plan);

/// The constants of a format; `halves` as in FloatKernels::decodesHalves.
FloatFormat floatFormat(const ElementFormat& element, bool halves);

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution);
/// Plain f32 rows.
PackedOperand packActivations(std::span<const float> activations, const ProductPlan& plan,
                              const Execution& execution);

} // namespace octavo::kernels
