#include "octavo/Program/Steps/File/ProgramFields.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace octavo::program {

std::uint64_t ProgramFields::bytes(std::initializer_list<std::int64_t> factors) {
  std::int64_t all = 1;
  bool isZero = false;
  for (const std::int64_t factor : factors) {
    isZero |= factor == 0;
    if (factor != 0 && (__builtin_mul_overflow(all, factor, &all) || all > kMost || all < 0)) {
      fail("a size that memory does not have");
      return 0;
    }
  }
  return isZero ? 0 : static_cast<std::uint64_t>(all);
}

/// The smallest batch size from which on the count is at least 1.
static std::int64_t fewestOf(const BatchExtent& count) {
  return whereNotNegative({count.fixed - 1, count.factor, count.square}).value_or(0);
}

Bytes ProgramFields::bytes(std::initializer_list<BatchExtent> factors) {
  Bytes all(1);
  bool isZero = false;
  for (const BatchExtent& factor : factors) {
    isZero |= factor == 0; // steps also count with the other factors
    if (factor == 0)
      continue;
    all.from = std::max(all.from, fewestOf(factor));
    all.count = times(all.count, factor);
  }
  return isZero ? Bytes(0) : all;
}

Bytes ProgramFields::times(const Bytes& count, std::int64_t width) {
  return {times(count.count, width), count.from};
}

BatchExtent ProgramFields::plus(const BatchExtent& a, const BatchExtent& b) {
  return within(sum(a, b));
}

BatchExtent ProgramFields::times(const BatchExtent& a, const BatchExtent& b) {
  return within(product(a, b));
}

BatchExtent ProgramFields::within(const std::optional<BatchExtent>& number) {
  if (!number || std::abs(number->fixed) > kMost || std::abs(number->factor) > kMost ||
      std::abs(number->square) > kMost) {
    fail("a size that memory does not have");
    return 0;
  }
  ofItem(number->factor);
  ofPair(number->square);
  return *number;
}

bool ProgramFields::isAtMost(const BatchExtent& a, const BatchExtent& b, std::int64_t from) const {
  const auto more = difference(b, a);
  const auto where = more ? whereNotNegative(*more) : std::nullopt;
  return where && *where <= std::max(of.items.least, from);
}

std::int64_t ProgramFields::mostItemsOfRun() const {
  std::int64_t most = std::min(ofPlans, kMost / largestOfItem);
  if (largestOfPair != 0) {
    const std::int64_t pairs = kMost / largestOfPair;
    most = std::min(most, static_cast<std::int64_t>(std::sqrt(static_cast<double>(pairs))));
  }
  return most;
}

BatchExtent ProgramFields::beginOf(BatchExtent offset, std::span<const Extent> extents,
                                   std::int64_t width) {
  for (const Extent& extent : extents)
    if (isAtMost(extent.stride, 0))
      offset = plus(offset, times(plus(extent.count, -1), extent.stride));
  return times(offset, width);
}

Bytes ProgramFields::reach(BatchExtent offset, std::span<const Extent> extents,
                           std::int64_t width) {
  std::int64_t from = 0;
  for (const Extent& extent : extents) {
    if (extent.count == 0)
      return 0;
    from = std::max(from, fewestOf(extent.count));
  }
  BatchExtent first = offset, last = offset;
  for (const Extent& extent : extents) {
    const BatchExtent far = times(plus(extent.count, -1), extent.stride);
    const bool isForward = isAtMost(0, extent.stride);
    if (!isForward && !isAtMost(extent.stride, 0))
      fail("an array that lies either way round");
    BatchExtent& end = isForward ? last : first;
    end = plus(end, far);
  }
  if (!isAtMost(0, first, from))
    fail("an array that reaches beyond its memory");
  return {times(plus(last, 1), width), from};
}

std::uint64_t ProgramFields::bytesOfMatrix(kernels::PlainType type, std::int64_t depth,
                                           std::int64_t columns) {
  const std::int64_t width = type == kernels::PlainType::F32    ? 1
                             : type == kernels::PlainType::Bf16 ? 2
                                                                : 4; ///< elements per 32-bit word
  const std::int64_t steps = depth / width + (depth % width != 0);
  return bytes({steps, (columns + 15) / 16, std::int64_t{4} * 16});
}

} // namespace octavo::program
