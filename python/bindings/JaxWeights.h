// A cache of packed right operands for the products of XLA programs.
#pragma once

#include "octavo/Kernels/Product/Product.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace octavo::python {

/// The bytes from which a right operand is packed. They belong to XLA.
struct WeightBytes {
  std::span<const std::byte> elements, scales;
  float outer;
};

/// The packing of these bytes for a product that `key` describes, made by `pack` unless there is
/// one. XLA does not say which of its buffers are weights, nor when one is written to. So the bytes
/// are copied to a value, which keeps its packings as every value does
/// (Program/Values/PackedForms.h). A value is found again if the same bytes lie at the same place.
/// If all values and packings take more than 1 GiB, those that were used longest ago go first. From
/// any thread.
std::shared_ptr<const kernels::PackedOperand>
packedOnce(const std::string& key, const WeightBytes& bytes,
           const std::function<kernels::PackedOperand()>& pack);

} // namespace octavo::python
