// Numbers of a compiled program that depend on how many items a run has: rows, extents, strides,
// bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

namespace octavo::program {

struct Frame;

/// How many items a run may have.
struct ItemRange {
  std::int64_t least = 1, most = 1;
};
/// More are no batch.
inline constexpr std::int64_t kMostItems = std::numeric_limits<std::int32_t>::max();

/// So many besides, `factor` for each item, and `square` for each pair of items, as a tensor has
/// that has two axes of them.
struct BatchExtent {
  std::int64_t fixed = 0, factor = 0, square = 0;

  constexpr BatchExtent() = default;
  constexpr BatchExtent(std::int64_t fixed, std::int64_t factor = 0, std::int64_t square = 0)
      : fixed(fixed), factor(factor), square(square) {}

  /// Whether it is another one for another number of items.
  bool isOpen() const { return factor != 0 || square != 0; }
  std::int64_t of(std::int64_t items) const { return fixed + (factor + square * items) * items; }
  /// In a run.
  std::int64_t of(const Frame& frame) const;
  friend auto operator<=>(const BatchExtent&, const BatchExtent&) = default;
};

/// What is so of many items but not of few may hold from here on at most: executables for as many
/// single numbers are kept.
inline constexpr std::int64_t kMostFewest = 16;

/// The fewest items for which the number is not negative, as of more; nothing where there are none.
std::optional<std::int64_t> whereNotNegative(const BatchExtent& number);

/// Nothing where the sum has no 64 bits.
std::optional<BatchExtent> sum(const BatchExtent& a, const BatchExtent& b);

/// The same, and nothing where it would be of three items.
std::optional<BatchExtent> product(const BatchExtent& a, const BatchExtent& b);

inline std::optional<BatchExtent> difference(const BatchExtent& a, const BatchExtent& b) {
  const auto negative = product(b, -1);
  return negative ? sum(a, *negative) : std::nullopt;
}

} // namespace octavo::program
