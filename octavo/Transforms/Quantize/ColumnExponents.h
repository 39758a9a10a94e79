// Moves powers of two from columns of activations to columns of weights where both meet in a dot.
// The products stay the same, and blocks of each side have more even magnitudes.
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

/// The exponent e of each index of a contracted axis: activations are divided by 2^e, weights
/// multiplied.
using ColumnExponents = std::vector<std::int8_t>;

/// Fails if powers of two cannot move under these formats: activations that stay wide, or a static
/// scale for a range other than amax.
llvm::Error checkColumnExponents(const DotFormats& formats);

/// Sets the exponents of quantized dots whose settings move powers of two, unless all exponents are
/// 0, and the amax of moved columns for their static scales. Dots that share one tensor of
/// activations share its exponents. Fails, naming the dot, if the calibration has no columns for
/// it.
llvm::Error setColumnExponents(llvm::MutableArrayRef<Dot> dots);

/// The exponents in words: the least, the greatest, and how many are not 0, or that none is. Empty
/// if the settings move none.
std::string describeExponents(const Dot& dot);

/// `value`, of known extents, with index i of `axis` multiplied by 2^exponents[i].
mlir::Value timesPowersOfTwo(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                             std::int64_t axis, llvm::ArrayRef<std::int8_t> exponents);

} // namespace octavo::transforms
