// Reads the values of packed operands, without outer scales and `factors`.
#pragma once

#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include <cstdint>

namespace octavo::kernels {

/// Writes the values of `groups` groups of K of a right operand's panel as f32, 16 for each k. The
/// values of far columns are unspecified.
void expandPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel,
                 std::int64_t firstGroup, std::int64_t groups, float* to);

/// Writes the K values of a row of the left operand. The operand is f32, or the plan has `floats`.
void readRow(const ProductPlan& plan, const PackedOperand& left, std::int64_t row, double* to);
/// Writes the values of a panel of the right operand, 16 for each k.
void readPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel, double* to);

} // namespace octavo::kernels
