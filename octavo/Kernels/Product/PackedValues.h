// What an operand's packed bytes stand for, without outer scales and `factors`.
#pragma once

#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include <cstdint>

namespace octavo::kernels {

/// The values of `groups` groups of K of a panel of the right operand in f32, 16 of each k; of far
/// columns any.
void expandPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel,
                 std::int64_t firstGroup, std::int64_t groups, float* to);

/// The K values of a row of the left operand, which is f32 or of a plan of floats.
void readRow(const ProductPlan& plan, const PackedOperand& left, std::int64_t row, double* to);
/// Those of a panel of the right operand, 16 of each k.
void readPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel, double* to);

} // namespace octavo::kernels
