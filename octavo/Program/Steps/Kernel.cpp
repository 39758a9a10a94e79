#include "octavo/Program/Steps/Kernel.h"

#include "octavo/Base/Loops.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::program {

namespace {

/// The argument list of a kernel call; the caller sets all but the last entry, the batch size.
std::byte** listOf(std::vector<std::byte*>& passed, std::size_t arguments, const Frame& frame) {
  passed.resize(arguments + 1);
  passed.back() = itemsForKernel(frame);
  return passed.data();
}

} // namespace

std::int64_t KernelStep::grain(const Frame& frame, std::int64_t all, int threads) const {
  constexpr std::int64_t kWorthAThread = 32768;
  const std::int64_t least =
      std::max<std::int64_t>(1, kWorthAThread / std::max<std::int64_t>(1, width.of(frame)));
  return isWholeInEachRange ? std::max(least, (all + threads - 1) / threads) : least;
}

Outcome KernelStep::compute(const Frame& frame, Worker& worker, RowRange range,
                            const kernels::Execution& execution) const {
  const bool isInPlace = inPlace.function != nullptr && frame.isInPlace;
  const KernelFunction code = isInPlace ? *inPlace.function : *function;
  const std::vector<Argument>& given = isInPlace ? inPlace.arguments : arguments;
  std::byte** const memory = listOf(worker.passed, given.size(), frame);
  for (std::size_t i = 0; i < given.size(); ++i)
    memory[i] = worker.at(given[i].slot);
  const RowRange own = range.of(rows.of(frame));
  const std::int64_t worthAThread = grain(frame, own.size(), kernels::threadsOf(execution));
  if (execution.threads == 1 || own.size() <= worthAThread)
    code(memory, own.begin, own.end);
  else
    base::forRanges(own.size(), worthAThread, [&](std::int64_t begin, std::int64_t end) {
      const Timed timed(frame.host->profile, this, Profile::Extent::Piece);
      code(memory, own.begin + begin, own.begin + end);
    });
  return {};
}

void KernelStep::makeRows(const Frame& frame, const Worker& worker, std::int64_t begin,
                          std::int64_t end, Slot made, std::ptrdiff_t bytes, std::byte* to) const {
  thread_local std::vector<std::byte*> passed;
  std::byte** const memory = listOf(passed, arguments.size(), frame);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    memory[i] =
        arguments[i].slot.number == made.number ? to - begin * bytes : worker.at(arguments[i].slot);
  const Timed timed(frame.host->profile, this, Profile::Extent::Piece);
  (*function)(memory, begin, end);
}

Outcome UpdateStep::run(Frame& frame) const {
  const std::int64_t outer = box.outer.of(frame), run = box.inner.of(frame) * elementBytes;
  std::int64_t bytes = run; // of one index of `outer`
  for (const BatchExtent& extent : box.shape)
    bytes *= extent.of(frame);
  const std::byte* source = frame.at(update);
  std::byte* target = frame.at(result);
  if (outer * bytes == 0)
    return {};
  if (operand.number != result.number)
    std::memmove(target, frame.at(operand), static_cast<std::size_t>(outer * bytes));
  std::int64_t stride = run;
  for (std::size_t axis = box.shape.size(); axis-- > 0; stride *= box.shape[axis].of(frame)) {
    const std::int64_t last = box.shape[axis].of(frame) - box.updateShape[axis].of(frame);
    target += box.starts[axis].of(frame, last) * stride;
  }
  for (std::int64_t place = 0; place < outer; ++place)
    copyBox(frame, 0, bytes, source, target + place * bytes);
  return {};
}

/// Copies the update along the axes from `axis` on. `bytes` is the size of the operand there.
void UpdateStep::copyBox(const Frame& frame, std::size_t axis, std::int64_t bytes,
                         const std::byte*& source, std::byte* target) const {
  const bool isRun = axis == box.shape.size();
  const std::int64_t stride = isRun ? bytes : bytes / box.shape[axis].of(frame);
  if (axis + 1 >= box.shape.size()) {
    const std::int64_t run = isRun ? bytes : box.updateShape[axis].of(frame) * stride;
    std::copy_n(source, run, target);
    source += run;
    return;
  }
  for (std::int64_t i = 0; i < box.updateShape[axis].of(frame); ++i)
    copyBox(frame, axis + 1, stride, source, target + i * stride);
}

StepFacts UpdateStep::facts() const {
  std::int64_t moved = elementBytes;
  for (const BatchExtent& extent : operand.number == result.number ? box.updateShape : box.shape)
    moved *= extent.of(1);
  return {.kind = StepFacts::Kind::Update,
          .bytes = 2 * static_cast<double>(box.outer.of(1) * moved) *
                   static_cast<double>(box.inner.of(1))};
}

} // namespace octavo::program
