// Products of Product.h whose left operand is f32 or bf16 in memory. A panel of rows at a time is
// quantized (unless the plan's left side is f32), packed to the thread's memory and multiplied
// while it is in cache. The whole left operand is packed at once only if it has few rows.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/RowFinisher.h"
#include "octavo/Numerics/QuantizeOptions.h"

#include <cstddef>
#include <cstdint>
#include <tl/expected.hpp>

namespace octavo::kernels {

/// Computes c[m * cStride + n] = sum over k of left[m * leftStride + k] * right[n, k] for m < rows
/// and k < plan.depth. Strides are in elements. The left operand is quantized to plan.left, or used
/// as it is if plan.left is floatOperand. The bits are those of quantizeAndPack (or pack) and
/// multiply for all rows at once; neither threads nor panels change them. `right` was packed for
/// `plan`, and execution.isa == plan.isa. `c` overlaps neither operand.
///
/// `options` are those of quantizeAndPack, without stochastic rounding; unused if nothing is
/// quantized. The error is the first value that they refuse, its index row-major in [rows, depth].
/// `c` is then unspecified, and the finisher may have been called on some rows.
///
/// `finisher` is called on finished rows of C and may itself call products.
tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const float* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options = {}, const Execution& execution = {},
             RowFinisher finisher = {});
/// The same for a bf16 left operand, which is widened exactly.
tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const std::uint16_t* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options = {}, const Execution& execution = {},
             RowFinisher finisher = {});

} // namespace octavo::kernels
