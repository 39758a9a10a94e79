// Extents, strides and byte counts of a compiled program as polynomials of the batch size.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

namespace octavo::program {

struct Frame;

/// The batch sizes that a program accepts, both ends included. {1, 1} if no batch is open.
struct ItemRange {
  std::int64_t least = 1, most = 1;
};
/// The largest batch size that any program accepts.
inline constexpr std::int64_t kMostItems = std::numeric_limits<std::int32_t>::max();

/// The number `fixed + factor * n + square * n^2`, where n is the batch size of a run. A tensor
/// with two axes of the batch size has a `square`.
struct BatchExtent {
  std::int64_t fixed = 0, factor = 0, square = 0;

  constexpr BatchExtent() = default;
  constexpr BatchExtent(std::int64_t fixed, std::int64_t factor = 0, std::int64_t square = 0)
      : fixed(fixed), factor(factor), square(square) {}

  /// Whether the number depends on the batch size.
  bool isOpen() const { return factor != 0 || square != 0; }
  std::int64_t of(std::int64_t items) const { return fixed + (factor + square * items) * items; }
  /// The number for the batch size of the run.
  std::int64_t of(const Frame& frame) const;
  friend auto operator<=>(const BatchExtent&, const BatchExtent&) = default;
};

/// The largest lower bound of an open batch: a condition that only large batches meet must hold
/// from this batch size on. Below the bound each batch size has an executable of its own, and at
/// most this many are kept.
inline constexpr std::int64_t kMostFewest = 16;

/// The smallest batch size from which on the number is never negative, at most kMostItems. nullopt
/// if there is none.
std::optional<std::int64_t> whereNotNegative(const BatchExtent& number);

/// a + b. nullopt if a coefficient overflows 64 bits.
std::optional<BatchExtent> sum(const BatchExtent& a, const BatchExtent& b);

/// a * b. nullopt if a coefficient overflows 64 bits, or if the product has degree 3 or more.
std::optional<BatchExtent> product(const BatchExtent& a, const BatchExtent& b);

inline std::optional<BatchExtent> difference(const BatchExtent& a, const BatchExtent& b) {
  const auto negative = product(b, -1);
  return negative ? sum(a, *negative) : std::nullopt;
}

} // namespace octavo::program
