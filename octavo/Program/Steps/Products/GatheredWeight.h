// Weights of which a product reads a slice or another axis order. They are packed once, as if codes
// and scales had been moved beforehand.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Program/Steps/Products/IndexedSlice.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::program {

class ProgramFields;

/// A strided view of an array: the first element at `offset`, then `count` elements `stride` apart
/// along each axis, in row-major order.
struct Gathered {
  struct Axis {
    std::int64_t count, stride;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::int64_t offset = 0;
  std::vector<Axis> axes;

  friend bool operator==(const Gathered&, const Gathered&) = default;
  std::size_t size() const;
  /// Slice `number` of `slices`, which the first axes count.
  Gathered slice(std::int64_t number, std::int64_t slices) const;
  /// The offset of that slice if its elements are contiguous; else nullopt.
  std::optional<std::int64_t> runOf(std::int64_t number, std::int64_t slices) const;
  /// Copies the view's elements, `bytes` bytes each, out of `array`.
  std::vector<std::byte> from(const void* array, int bytes) const;

private:
  /// The offset of the slice, and the index of its first axis.
  std::pair<std::int64_t, std::size_t> beginOf(std::int64_t number, std::int64_t slices) const;
};

/// The views of a weight's codes and scales that make up the matrices of all slices.
struct GatheredWeight {
  Gathered elements, scales;
  IndexedSlice slices;

  /// The first matrix of a slice of `whole` in place. nullopt if its codes or scales are not
  /// contiguous there.
  std::optional<kernels::ScaledView> inPlace(const kernels::ScaledView& whole,
                                             std::int64_t slice) const;
  /// Appends what identifies this view to the key of a packed form.
  void addTo(std::vector<std::int64_t>& key) const;
  /// Counts of elements and scales.
  struct Reach {
    std::uint64_t elements, scales;
  };
  /// Writes or reads the fields, and returns how far the view reaches into the weight. A slice
  /// holds the matrices of the whole batch (`ofBatch`), or one matrix if products choose slices
  /// (`ofMatrix`).
  Reach fields(ProgramFields& fields, const Reach& ofMatrix, const Reach& ofBatch,
               const BatchExtent& products);
};

/// Copies of a slice's codes and scales in the gathered order.
struct MovedParts {
  std::vector<std::byte> elements, scales;

  MovedParts(const GatheredWeight& moved, const kernels::ScaledView& whole, std::int64_t slice);
  /// The first matrix of the copy, in the format of `whole`.
  kernels::ScaledView first(const kernels::ScaledView& whole) const;
};

} // namespace octavo::program
