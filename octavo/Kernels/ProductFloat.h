// The float path of Product.h: packing and the loops around the tiles.
#pragma once

#include "octavo/Kernels/Product.h"

namespace octavo::kernels {

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution);

void multiplyFloats(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                    std::span<float> c, const Execution& execution);

} // namespace octavo::kernels
