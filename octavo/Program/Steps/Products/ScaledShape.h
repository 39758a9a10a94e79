// What scaled tensors are for any number of items.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// The shape and the type of a scaled tensor, of which one extent may be of items. Its blocks are
/// of a number of elements there, or of all.
struct ScaledShape {
  std::vector<BatchExtent> extents, blocks;
  const format::ElementFormat* element = nullptr;
  const format::ElementFormat* scale = nullptr;
  bool hasOuterScale = false;

  ScaledShape() = default;
  ScaledShape(const std::vector<std::int64_t>& shape, const numerics::ScaledType& type);

  bool isOpen() const;
  struct OfItems {
    std::vector<std::int64_t> shape;
    numerics::ScaledType type;
  };
  /// Of so many, in the memory of what was there before. No block is longer than its axis.
  void close(std::int64_t items, OfItems& now) const;
  OfItems of(std::int64_t items) const;
  friend bool operator==(const ScaledShape&, const ScaledShape&) = default;
};

} // namespace octavo::program
