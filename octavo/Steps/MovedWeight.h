// Weights that products take a part of, or in another order: packed once, as if their codes and
// scales had been moved so before.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Steps/StartIndex.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::steps {

class ProgramFields;

/// Elements of an array, the first at `offset`, and along each axis so many `stride` apart; in
/// row-major order.
struct Gathered {
  struct Axis {
    std::int64_t count, stride;
  };
  std::int64_t offset = 0;
  std::vector<Axis> axes;

  std::size_t size() const;
  /// Elements of so many bytes.
  std::vector<std::byte> from(const void* array, int bytes) const;
};

/// Slices of which an index that the program computes chooses one; or one.
struct SliceChoice {
  std::int64_t count = 1;
  std::optional<StartIndex> index = std::nullopt;

  std::int64_t of(const Frame& frame) const { return index ? index->of(frame, count - 1) : 0; }
  void fields(ProgramFields& fields);
};

/// What is gathered of a weight's codes and scales: the matrices of as many slices.
struct MovedWeight {
  Gathered elements, scales;
  SliceChoice slices;

  /// What it is made by.
  void addTo(std::vector<std::int64_t>& key) const;
  /// So many elements and scales.
  struct Reach {
    std::uint64_t elements, scales;
  };
  /// How far into a weight it reaches, of which each slice has so many.
  Reach fields(ProgramFields& fields, const Reach& ofSlice);
};

/// Codes and scales as a weight has been moved.
struct MovedParts {
  std::vector<std::byte> elements, scales;
  std::size_t elementsOfSlice, scaleBytesOfSlice;

  MovedParts(const MovedWeight& moved, const kernels::ScaledView& whole);
  /// The first matrix of a slice, of the form that `whole` has.
  kernels::ScaledView first(const kernels::ScaledView& whole, std::int64_t slice) const;
};

} // namespace octavo::steps
