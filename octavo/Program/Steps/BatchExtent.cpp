#include "octavo/Program/Steps/BatchExtent.h"

#include <algorithm>
#include <initializer_list>

namespace octavo::program {

namespace {

constexpr std::int64_t kNoItems = kMostItems + 1;

bool isNegative(const BatchExtent& number, std::int64_t items) {
  return number.fixed + (number.factor + static_cast<__int128>(number.square) * items) * items < 0;
}

/// Adds a * b to `to`. False on overflow of 64 bits.
bool add(std::int64_t& to, std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  return !__builtin_mul_overflow(a, b, &all) && !__builtin_add_overflow(to, all, &to);
}

} // namespace

std::optional<std::int64_t> whereNotNegative(const BatchExtent& number) {
  if (number.square < 0 || (number.square == 0 && number.factor < 0))
    return std::nullopt;
  if (!number.isOpen())
    return number.fixed < 0 ? std::nullopt : std::optional<std::int64_t>(0);
  // The number grows from its minimum on.
  std::int64_t from = 0;
  if (number.square != 0 && number.factor < 0)
    from = std::min(kNoItems, -(number.factor / number.square) / 2 + 1);
  if (!isNegative(number, from) && (from == 0 || !isNegative(number, from - 1)))
    return 0;
  std::int64_t least = from, most = kNoItems;
  while (least < most)
    if (const std::int64_t middle = least + (most - least) / 2; isNegative(number, middle))
      least = middle + 1;
    else
      most = middle;
  return least == kNoItems ? std::nullopt : std::optional(least);
}

std::optional<BatchExtent> sum(const BatchExtent& a, const BatchExtent& b) {
  BatchExtent result;
  for (const auto part : {&BatchExtent::fixed, &BatchExtent::factor, &BatchExtent::square})
    if (__builtin_add_overflow(a.*part, b.*part, &(result.*part)))
      return std::nullopt;
  return result;
}

std::optional<BatchExtent> product(const BatchExtent& a, const BatchExtent& b) {
  BatchExtent result;
  const bool isOfThree = (a.square != 0 && b.isOpen()) || (b.square != 0 && a.isOpen());
  if (isOfThree || !add(result.fixed, a.fixed, b.fixed) || !add(result.factor, a.factor, b.fixed) ||
      !add(result.factor, a.fixed, b.factor) || !add(result.square, a.square, b.fixed) ||
      !add(result.square, a.factor, b.factor) || !add(result.square, a.fixed, b.square))
    return std::nullopt;
  return result;
}

} // namespace octavo::program
