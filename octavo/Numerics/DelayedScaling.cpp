#include "octavo/Numerics/DelayedScaling.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace octavo::numerics {

static constexpr float kLargestScale = std::numeric_limits<float>::max();

TrainingScale updateDelayedScale(const ElementFormat& format, const DelayedScaling& recipe,
                                 std::span<float> history, float scale) {
  assert(!history.empty());
  if (recipe.zeroAmax == ZeroAmax::Keep && history.front() == 0)
    return {scale, 1.0f / scale};
  float amax = recipe.choice == AmaxChoice::MostRecent ? history.front() : 0.0f;
  if (recipe.choice == AmaxChoice::Max)
    for (float found : history)
      amax = std::fmax(amax, found); // fmax drops NaN
  if (amax > 0 && std::isfinite(amax)) {
    const float max = std::ldexp(static_cast<float>(maxValue(format)), -recipe.margin);
    scale = std::min(max / amax, kLargestScale);
  }
  std::ranges::rotate(history, history.begin() + 1);
  // The rotation has put the amax of this step last and the oldest first, whose slot is needed.
  history.front() = 0;
  return {scale, 1.0f / scale};
}

/// The finalizer of MurmurHash3, which spreads each bit over all.
static std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

float stateSeal(std::initializer_list<std::span<const float>> numbers) {
  constexpr std::uint32_t kExponent = 0x7F800000u;
  std::uint32_t sum = 0, place = 0;
  for (const std::span<const float> part : numbers)
    for (const float number : part) {
      auto bits = std::bit_cast<std::uint32_t>(number);
      if ((bits & kExponent) == 0)
        bits = 0;
      else if (std::isnan(number))
        bits = 0x7FC00000u;
      sum += mixed(bits ^ (++place * 0x9E3779B9u));
    }
  return std::bit_cast<float>(0x3F800000u | (mixed(sum) >> 9));
}

TrainingScale currentScale(const ElementFormat& format, float amax, float epsilon,
                           CurrentScales scales) {
  if (amax < epsilon)
    amax = epsilon;
  if (!(amax > 0) || std::isinf(amax))
    return {1.0f, 1.0f};
  float scale = std::min(static_cast<float>(maxValue(format)) / amax, kLargestScale);
  if (scales == CurrentScales::PowersOfTwo)
    scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0xFF800000u);
  return {scale, 1.0f / scale};
}

} // namespace octavo::numerics
