// How large the parts of a packed right operand are.
#pragma once

#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace octavo::kernels {

struct PackedSizes {
  std::size_t elements, scales; ///< bytes
  std::size_t factors;          ///< numbers, where not all are 1
  std::int64_t paddedRows;      ///< of codes and values
};

/// Of a right operand of `rows` rows (columns of C) that `pack` or `decodedAhead` made for the
/// plan; nothing where neither stores it so, or it is larger than memory can be.
std::optional<PackedSizes> rightSizes(const ProductPlan& plan, std::int64_t rows,
                                      PackedOperand::Storage storage);

} // namespace octavo::kernels
