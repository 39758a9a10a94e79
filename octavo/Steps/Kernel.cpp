#include "octavo/Steps/Kernel.h"

#include "octavo/Parallel/Loops.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::steps {

Outcome KernelStep::compute(const Frame& frame, Worker& worker, RowRange range,
                            const kernels::Execution& execution) const {
  const bool isInPlace = inPlace.function != nullptr && frame.isInPlace;
  const KernelFunction code = isInPlace ? *inPlace.function : *function;
  const std::vector<Slot>& slots = isInPlace ? inPlace.arguments : arguments;
  worker.passed.resize(slots.size());
  std::byte** const memory = worker.passed.data();
  for (std::size_t i = 0; i < slots.size(); ++i)
    memory[i] = worker.at(slots[i]);
  const RowRange own = range.of(rows.of(frame));
  if (execution.threads == 1 || own.size() <= grain)
    code(memory, own.begin, own.end);
  else
    parallel::forRanges(own.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const execution::Timed timed(frame.host->profile, this, execution::Profile::Extent::Piece);
      code(memory, own.begin + begin, own.begin + end);
    });
  return {};
}

void KernelStep::makeRows(const Frame& frame, const Worker& worker, std::int64_t begin,
                          std::int64_t end, Slot made, std::ptrdiff_t bytes, std::byte* to) const {
  thread_local std::vector<std::byte*> passed;
  passed.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    passed[i] = arguments[i].number == made.number ? to - begin * bytes : worker.at(arguments[i]);
  const execution::Timed timed(frame.host->profile, this, execution::Profile::Extent::Piece);
  (*function)(passed.data(), begin, end);
}

Outcome UpdateStep::run(Frame& frame) const {
  const std::byte* source = frame.at(update);
  std::byte* target = frame.at(result);
  std::int64_t bytes = elementBytes;
  for (const std::int64_t extent : shape)
    bytes *= extent;
  if (operand.number != result.number && bytes != 0)
    std::memmove(target, frame.at(operand), static_cast<std::size_t>(bytes));
  std::int64_t offset = 0, stride = elementBytes;
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    offset += starts[axis].of(frame, shape[axis] - updateShape[axis]) * stride;
  }
  if (bytes != 0)
    copyBox(0, bytes, source, target + offset);
  return {};
}

/// The elements of the update along the axes from `axis` on, on which the operand has so many
/// bytes. The innermost axes that the update spans are one run.
void UpdateStep::copyBox(std::size_t axis, std::int64_t bytes, const std::byte*& source,
                         std::byte* target) const {
  const std::int64_t stride = axis == shape.size() ? bytes : bytes / shape[axis];
  if (axis + 1 >= runAxes) {
    const std::int64_t run = axis == shape.size() ? bytes : updateShape[axis] * stride;
    std::copy_n(source, run, target);
    source += run;
    return;
  }
  for (std::int64_t i = 0; i < updateShape[axis]; ++i)
    copyBox(axis + 1, stride, source, target + i * stride);
}

StepFacts UpdateStep::facts() const {
  const std::int64_t moved =
      numerics::elementCount(operand.number == result.number ? updateShape : shape);
  return {.kind = StepFacts::Kind::Update, .bytes = 2 * static_cast<double>(moved * elementBytes)};
}

} // namespace octavo::steps
