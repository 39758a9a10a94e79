// Right operands of XLA's products, packed once and kept.
#pragma once

#include "octavo/Kernels/Product/Product.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace octavo::python {

/// What a right operand is packed from, where it lies.
struct WeightBytes {
  std::span<const std::byte> elements, scales;
  float outer;
};

/// The packing of these bytes for a product that `key` describes: a kept one, or that of `pack`,
/// kept from now on. XLA does not say which of its buffers are weights, nor when one is written to:
/// a packing is kept with a copy of its bytes and taken where the same bytes lie at the same place.
/// Those that were used longest ago go first where all take more than 1 GiB. From any thread.
std::shared_ptr<const kernels::PackedOperand>
packedOnce(const std::string& key, const WeightBytes& bytes,
           const std::function<kernels::PackedOperand()>& pack);

} // namespace octavo::python
