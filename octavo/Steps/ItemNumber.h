// Numbers of a compiled program that depend on how many items a run has: rows, extents, strides,
// bytes.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>

namespace octavo::steps {

struct Frame;

/// So many besides, and `factor` for each item.
struct ItemNumber {
  std::int64_t fixed = 0, factor = 0;

  constexpr ItemNumber() = default;
  constexpr ItemNumber(std::int64_t fixed, std::int64_t factor = 0)
      : fixed(fixed), factor(factor) {}

  /// Whether it is another one for another number of items.
  bool isOpen() const { return factor != 0; }
  std::int64_t of(std::int64_t items) const { return fixed + factor * items; }
  /// In a run.
  std::int64_t of(const Frame& frame) const;
  friend auto operator<=>(const ItemNumber&, const ItemNumber&) = default;
};

/// What is so of many items but not of few may hold from here on at most: executables for as many
/// single numbers are kept.
inline constexpr std::int64_t kMostFewest = 16;

/// The fewest items for which the number is not negative, as of more; nothing where there are none.
inline std::optional<std::int64_t> whereNotNegative(const ItemNumber& number) {
  if (number.factor <= 0)
    return number.factor == 0 && number.fixed >= 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  const std::int64_t missing = std::max<std::int64_t>(0, -number.fixed);
  return missing / number.factor + (missing % number.factor != 0 ? 1 : 0);
}

/// Nothing where the sum has no 64 bits.
inline std::optional<ItemNumber> sum(const ItemNumber& a, const ItemNumber& b) {
  ItemNumber result;
  if (__builtin_add_overflow(a.fixed, b.fixed, &result.fixed) ||
      __builtin_add_overflow(a.factor, b.factor, &result.factor))
    return std::nullopt;
  return result;
}

/// The same, and nothing where it would be of the items' square.
inline std::optional<ItemNumber> product(const ItemNumber& a, const ItemNumber& b) {
  ItemNumber result;
  std::int64_t other = 0;
  if ((a.isOpen() && b.isOpen()) || __builtin_mul_overflow(a.fixed, b.fixed, &result.fixed) ||
      __builtin_mul_overflow(a.factor, b.fixed, &result.factor) ||
      __builtin_mul_overflow(a.fixed, b.factor, &other) ||
      __builtin_add_overflow(result.factor, other, &result.factor))
    return std::nullopt;
  return result;
}

inline std::optional<ItemNumber> difference(const ItemNumber& a, const ItemNumber& b) {
  const auto negative = product(b, -1);
  return negative ? sum(a, *negative) : std::nullopt;
}

} // namespace octavo::steps
