#include "octavo/Program/Steps/RandomBits.h"

#include "octavo/Base/Loops.h"
#include "octavo/Numerics/Philox.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Numerics/Threefry.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::program {

namespace {

constexpr std::int64_t kBlocksWorthAThread = 4096;

std::array<std::uint32_t, 2> halves(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

/// The axis along which Threefry's two words are neighbours: the first of even extent, else the
/// longest.
std::size_t pairedAxis(const std::vector<std::int64_t>& shape) {
  std::size_t longest = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] % 2 == 0)
      return axis;
    if (shape[axis] > shape[longest])
      longest = axis;
  }
  return longest;
}

} // namespace

RandomBitsStep::RandomBitsStep(OperationTextPtr op, Generator generator, State state, Output output)
    : Step(std::move(op)), generator(generator), state(state), output(std::move(output)) {
  layOut();
}

void RandomBitsStep::layOut() {
  perBlock = (generator == Generator::Threefry ? 2 : 4) / (output.width == 64 ? 2 : 1);
  layout = {1, numerics::elementCount(output.shape), 1};
  if (perBlock == 2 && generator == Generator::Threefry && !output.shape.empty()) {
    const std::vector<std::int64_t>& shape = output.shape;
    const std::size_t axis = pairedAxis(shape);
    layout.extent = shape[axis];
    for (std::size_t i = 0; i < axis; ++i)
      layout.outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i)
      layout.inner *= shape[i];
  }
  blocks = layout.outer * ((layout.extent + perBlock - 1) / perBlock) * layout.inner;
}

/// An element takes the low bits of one word, or two words, the low word first.
template <typename Element>
void RandomBitsStep::fill(const std::uint64_t* given, Element* elements) const {
  const auto key = halves(given[0]);
  const std::uint64_t high = state.words > 2 ? given[2] : given[0];
  const auto mask = static_cast<Element>(~std::uint64_t{0} >> (64 - output.width));
  const std::int64_t groupBlocks = (layout.extent + perBlock - 1) / perBlock;
  const auto store = [&](std::int64_t block, const auto& words) {
    const std::int64_t inner = block % layout.inner;
    const std::int64_t line = block / layout.inner;
    const std::int64_t first = line % groupBlocks * perBlock;
    Element* to = elements + (line / groupBlocks * layout.extent + first) * layout.inner + inner;
    const std::int64_t count = std::min(perBlock, layout.extent - first);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto word = static_cast<std::size_t>(k);
      if constexpr (sizeof(Element) == 8)
        to[k * layout.inner] = words[2 * word] | static_cast<std::uint64_t>(words[2 * word + 1])
                                                     << 32;
      else
        to[k * layout.inner] = static_cast<Element>(words[word]) & mask;
    }
  };
  base::forRanges(blocks, kBlocksWorthAThread, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const std::uint64_t low = given[1] + static_cast<std::uint64_t>(block);
      const auto l = halves(low);
      if (generator == Generator::Threefry) {
        store(block, numerics::threefry(l, key));
      } else {
        const auto h = halves(high + (low < given[1] ? 1 : 0));
        store(block, numerics::philox({l[0], l[1], h[0], h[1]}, key));
      }
    }
  });
}

Outcome RandomBitsStep::run(Frame& frame) const {
  std::array<std::uint64_t, 3> given{};
  const std::size_t bytes = static_cast<std::size_t>(state.words) * sizeof(std::uint64_t);
  std::memcpy(given.data(), frame.at(state.given), bytes);
  switch (output.bytes) {
  case 1:
    fill(given.data(), frame.at<std::uint8_t>(output.slot));
    break;
  case 2:
    fill(given.data(), frame.at<std::uint16_t>(output.slot));
    break;
  case 4:
    fill(given.data(), frame.at<std::uint32_t>(output.slot));
    break;
  default:
    fill(given.data(), frame.at<std::uint64_t>(output.slot));
    break;
  }
  std::array<std::uint64_t, 3> next = given;
  next[1] += static_cast<std::uint64_t>(blocks);
  if (next[1] < given[1])
    ++next[2]; // unused if the state has two numbers
  std::memcpy(frame.at(state.next), next.data(), bytes);
  return {};
}

StepFacts RandomBitsStep::facts() const {
  return {.kind = StepFacts::Kind::RandomBits,
          .bytes = static_cast<double>(numerics::elementCount(output.shape) * output.bytes)};
}

} // namespace octavo::program
