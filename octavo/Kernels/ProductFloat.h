// Packing for the float path of Product.h.
#pragma once

#include "octavo/Kernels/Product.h"

namespace octavo::kernels {

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution);

} // namespace octavo::kernels
