// Shapes and types of scaled tensors as functions of the batch size.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// The shape and type of a scaled tensor. One extent may depend on the batch size. Blocks along it
/// have a fixed extent or span all of it.
struct ScaledShape {
  std::vector<BatchExtent> extents, blocks;
  const format::ElementFormat* element = nullptr;
  const format::ElementFormat* scale = nullptr;
  bool hasOuterScale = false;

  ScaledShape() = default;
  ScaledShape(const std::vector<std::int64_t>& shape, const numerics::ScaledType& type);

  bool isOpen() const;
  /// The shape and type at one batch size.
  struct OfItems {
    std::vector<std::int64_t> shape;
    numerics::ScaledType type;
  };
  /// Sets `now` to the shape at batch size `items`, and reuses its memory. Block extents are cut to
  /// the extents of the axes.
  void close(std::int64_t items, OfItems& now) const;
  OfItems of(std::int64_t items) const;
  friend bool operator==(const ScaledShape&, const ScaledShape&) = default;
};

} // namespace octavo::program
