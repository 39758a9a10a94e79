// Sizes of the parts of a packed right operand.
#pragma once

#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace octavo::kernels {

struct PackedSizes {
  std::size_t elements, scales; ///< bytes
  std::size_t factors;          ///< number of factors, unless all are 1
  std::int64_t paddedRows;      ///< Codes and Values: PackedOperand::paddedRows
};

/// The sizes of a right operand of `rows` rows (columns of C) that `pack` or `decodedAhead` made
/// for `plan`. nullopt if neither uses `storage` for the plan, or if the operand is too large for
/// memory.
std::optional<PackedSizes> rightSizes(const ProductPlan& plan, std::int64_t rows,
                                      PackedOperand::Storage storage);

} // namespace octavo::kernels
