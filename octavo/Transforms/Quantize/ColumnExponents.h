// Powers of two that are moved from columns of activations to those of weights, where both meet in
// a dot: the products stay what they were, and each side has blocks of more even magnitudes.
#pragma once

#include "octavo/Transforms/Quantize/StaticScales.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace octavo::transforms {

/// Of each place on a contracted axis: activations are divided by 2^e, weights multiplied.
using ColumnExponents = std::vector<std::int8_t>;

/// What is wrong with moving powers of two for these formats: activations that stay wide, a static
/// scale for another range than amax.
llvm::Error checkColumnExponents(const DotFormats& formats);

/// Gives the sides of quantized dots whose settings move powers of two their exponents, unless all
/// are 0, and their static scales, if any, the amax of the moved columns. Dots of one tensor of
/// activations get the same. The error names a dot of whose columns the calibration knows nothing.
llvm::Error setColumnExponents(llvm::MutableArrayRef<Dot> dots);

/// What a record says of the exponents: the least and the greatest, and how many are not 0, or that
/// none is. Empty where its settings move none.
std::string describeExponents(const Dot& dot);

/// `value`, of known extents, times 2^exponents[i] at place i of `axis`.
mlir::Value timesPowersOfTwo(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                             std::int64_t axis, llvm::ArrayRef<std::int8_t> exponents);

} // namespace octavo::transforms
