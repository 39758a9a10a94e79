#include "octavo/Interpreter/Tensor/RandomBits.h"

#include "octavo/Numerics/Philox.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Numerics/Threefry.h"

#include <algorithm>
#include <array>

namespace octavo::interpreter {

namespace {

std::array<std::uint32_t, 2> halves(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}

} // namespace

RandomBits threefryBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                        int width) {
  const std::array<std::uint32_t, 2> key = halves(state[0]);
  const std::int64_t size = numerics::elementCount(shape);
  RandomBits result{{state.begin(), state.end()}, std::vector<std::uint64_t>(size)};
  const auto block = [&](std::uint64_t i) { return numerics::threefry(halves(state[1] + i), key); };
  if (width == 64) {
    for (std::int64_t i = 0; i < size; ++i) {
      const auto [low, high] = block(static_cast<std::uint64_t>(i));
      result.bits[i] = joined(low, high);
    }
    result.state[1] += static_cast<std::uint64_t>(size);
    return result;
  }
  // A block gives two neighbours on one axis: the first axis of even extent, or else the longest,
  // which then uses only half of its last block.
  std::size_t axis = 0;
  const auto even =
      std::ranges::find_if(shape, [](std::int64_t extent) { return extent % 2 == 0; });
  if (even != shape.end())
    axis = static_cast<std::size_t>(even - shape.begin());
  else if (!shape.empty())
    axis = static_cast<std::size_t>(std::ranges::max_element(shape) - shape.begin());
  const std::int64_t extent = shape.empty() ? 1 : shape[axis];
  const std::int64_t pairs = (extent + 1) / 2;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  const std::int64_t outer = size == 0 ? 0 : size / (extent * inner);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      for (std::int64_t i = 0; i < inner; ++i) {
        const auto words = block(static_cast<std::uint64_t>((o * pairs + pair) * inner + i));
        for (std::int64_t half = 0; half < 2 && 2 * pair + half < extent; ++half)
          result.bits[(o * extent + 2 * pair + half) * inner + i] = words[half];
      }
  result.state[1] += static_cast<std::uint64_t>(outer * pairs * inner);
  return result;
}

RandomBits philoxBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                      int width) {
  const std::array<std::uint32_t, 2> key = halves(state[0]);
  const std::int64_t size = numerics::elementCount(shape);
  const std::int64_t perBlock = width == 64 ? 2 : 4;
  const std::int64_t blocks = (size + perBlock - 1) / perBlock;
  RandomBits result{{state.begin(), state.end()}, std::vector<std::uint64_t>(size)};
  const std::uint64_t high = state.size() > 2 ? state[2] : state[0];
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::uint64_t low = state[1] + static_cast<std::uint64_t>(i);
    const auto l = halves(low), h = halves(high + (low < state[1] ? 1 : 0));
    const auto words = numerics::philox({l[0], l[1], h[0], h[1]}, key);
    for (std::int64_t k = 0; k < perBlock && i * perBlock + k < size; ++k)
      result.bits[i * perBlock + k] =
          width == 64 ? joined(words[2 * k], words[2 * k + 1]) : words[k];
  }
  result.state[1] += static_cast<std::uint64_t>(blocks);
  if (state.size() > 2 && result.state[1] < state[1])
    ++result.state[2];
  return result;
}

} // namespace octavo::interpreter
