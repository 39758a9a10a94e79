// Products of Product.h whose left operand is f32 or bf16 where it lies: a panel of rows at a time
// is quantized (where the plan's left side is), packed to memory of the thread and multiplied while
// it is in cache. There is no packed copy of the whole left operand, unless its rows are few.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/RowFinisher.h"
#include "octavo/Numerics/QuantizeOptions.h"

#include <cstddef>
#include <cstdint>
#include <tl/expected.hpp>

namespace octavo::kernels {

/// c[m * cStride + n] = sum over k of left[m * leftStride + k] * right[n, k] for m < rows and k <
/// plan.depth, strides in elements, with the left operand quantized to plan.left, or taken as it is
/// where that is floatOperand. The bits are those of quantizeAndPack or pack, and multiply, for all
/// rows at once; neither threads nor the cut into panels change them. `right` was packed for
/// `plan`, and execution.isa == plan.isa. `c` overlaps neither operand.
///
/// `options` are those of quantizeAndPack: not stochastic; unused where nothing is quantized. Where
/// they refuse a value, the result is the first one, its index row-major in [rows, depth]; `c` is
/// then unspecified, and the finisher may have been called on some rows.
///
/// `finisher` is called on rows of C that are whole. It may multiply too.
tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const float* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options = {}, const Execution& execution = {},
             RowFinisher finisher = {});
/// The same of bf16, widened exactly.
tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const std::uint16_t* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options = {}, const Execution& execution = {},
             RowFinisher finisher = {});

} // namespace octavo::kernels
