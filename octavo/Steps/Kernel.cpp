#include "octavo/Steps/Kernel.h"

#include "octavo/Parallel/Loops.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::steps {

Outcome KernelStep::compute(const Frame& frame, Worker& worker, RowRange range,
                            const kernels::Execution& execution) const {
  // Kernels of more arguments than this are rare: they pay for an allocation.
  std::array<std::byte*, 32> few;
  std::vector<std::byte*> many;
  std::byte** memory = few.data();
  if (arguments.size() > few.size()) {
    many.resize(arguments.size());
    memory = many.data();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    memory[i] = worker.at(arguments[i]);
  const RowRange own = range.of(rows);
  if (execution.threads == 1 || own.size() <= grain)
    function(memory, own.begin, own.end);
  else
    parallel::forRanges(own.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const execution::Timed timed(frame.host->profile, this, execution::Profile::Extent::Piece);
      function(memory, own.begin + begin, own.begin + end);
    });
  return {};
}

Outcome UpdateStep::run(Frame& frame) const {
  const std::byte* source = frame.at(update);
  std::byte* target = frame.at(result);
  std::int64_t bytes = elementBytes;
  for (const std::int64_t extent : shape)
    bytes *= extent;
  if (operand.number != result.number && bytes != 0)
    std::memcpy(target, frame.at(operand), static_cast<std::size_t>(bytes));
  std::int64_t offset = 0, stride = elementBytes;
  std::vector<std::int64_t> strides(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    const Start& given = starts[axis];
    std::uint64_t bits = 0;
    std::memcpy(&bits, frame.at(given.slot), static_cast<std::size_t>(given.bytes));
    const std::int64_t last = shape[axis] - updateShape[axis];
    const int unused = 64 - 8 * given.bytes;
    const std::int64_t start =
        given.isUnsigned
            ? static_cast<std::int64_t>(std::min(bits, static_cast<std::uint64_t>(last)))
            : std::clamp<std::int64_t>(static_cast<std::int64_t>(bits << unused) >> unused, 0,
                                       last);
    strides[axis] = stride;
    offset += start * stride;
  }
  // The innermost axes that the update spans are one run.
  std::size_t outer = shape.size();
  std::int64_t run = elementBytes;
  while (outer > 0) {
    --outer;
    run *= updateShape[outer];
    if (updateShape[outer] != shape[outer])
      break;
  }
  if (run == 0)
    return {};
  std::vector<std::int64_t> index(outer, 0);
  for (bool isMore =
           std::ranges::all_of(updateShape, [](std::int64_t extent) { return extent > 0; });
       isMore;) {
    std::int64_t place = offset;
    for (std::size_t axis = 0; axis < outer; ++axis)
      place += index[axis] * strides[axis];
    std::memcpy(target + place, source, static_cast<std::size_t>(run));
    source += run;
    isMore = false;
    for (std::size_t axis = outer; axis-- > 0;) {
      if (++index[axis] < updateShape[axis]) {
        isMore = true;
        break;
      }
      index[axis] = 0;
    }
  }
  return {};
}

StepFacts UpdateStep::facts() const {
  const std::int64_t moved =
      numerics::elementCount(operand.number == result.number ? updateShape : shape);
  return {.kind = StepFacts::Kind::Update, .bytes = 2 * static_cast<double>(moved * elementBytes)};
}

} // namespace octavo::steps
