// Packing of operands for the float path of Product.h.
#pragma once

#include "octavo/Kernels/Product/Product.h"

namespace octavo::kernels {

/// The kernels of a plan with `floats`.
const FloatKernels& floatKernels(const ProductPlan& plan);

/// The constants of a format of the table; `halves` is FloatKernels::decodesHalves.
const FloatFormat& floatFormat(const ElementFormat& element, bool halves);

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution, PackedOperand&& old);
/// Packs plain f32 rows.
PackedOperand packActivations(std::span<const float> activations, const ProductPlan& plan,
                              const Execution& execution, PackedOperand&& old);

} // namespace octavo::kernels
