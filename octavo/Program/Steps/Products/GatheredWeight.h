// Weights that products take a part of, or in another order: packed once, as if their codes and
// scales had been moved so before.
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

/// Elements of an array, the first at `offset`, and along each axis so many `stride` apart; in
/// row-major order.
struct Gathered {
  struct Axis {
    std::int64_t count, stride;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::int64_t offset = 0;
  std::vector<Axis> axes;

  friend bool operator==(const Gathered&, const Gathered&) = default;
  std::size_t size() const;
  /// One of so many slices, which the first axes count.
  Gathered slice(std::int64_t number, std::int64_t slices) const;
  /// Where such a slice begins, if its elements lie one behind the other.
  std::optional<std::int64_t> runOf(std::int64_t number, std::int64_t slices) const;
  /// Elements of so many bytes.
  std::vector<std::byte> from(const void* array, int bytes) const;

private:
  /// Where such a slice begins, and the first of its axes.
  std::pair<std::int64_t, std::size_t> beginOf(std::int64_t number, std::int64_t slices) const;
};

/// What is gathered of a weight's codes and scales: the matrices of as many slices.
struct GatheredWeight {
  Gathered elements, scales;
  IndexedSlice slices;

  /// The first matrix of a slice of a weight, if its codes and scales lie there as they are
  /// multiplied.
  std::optional<kernels::ScaledView> inPlace(const kernels::ScaledView& whole,
                                             std::int64_t slice) const;
  /// What it is made by.
  void addTo(std::vector<std::int64_t>& key) const;
  /// So many elements and scales.
  struct Reach {
    std::uint64_t elements, scales;
  };
  /// How far into a weight it reaches, of which each slice has so many: those of the matrices of a
  /// batch of products, or of one that a product chooses.
  Reach fields(ProgramFields& fields, const Reach& ofMatrix, const Reach& ofBatch,
               const BatchExtent& products);
};

/// Codes and scales of a slice as a weight has been moved.
struct MovedParts {
  std::vector<std::byte> elements, scales;

  MovedParts(const GatheredWeight& moved, const kernels::ScaledView& whole, std::int64_t slice);
  /// The first matrix, of the form that `whole` has.
  kernels::ScaledView first(const kernels::ScaledView& whole) const;
};

} // namespace octavo::program
