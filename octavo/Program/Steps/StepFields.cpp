// The fields of each step (ProgramFields.h). Products: ProductFields.cpp, ScaledFields.cpp.
#include "octavo/Program/Steps/StepFields.h"
#include "octavo/Program/Steps/Call.h"
#include "octavo/Program/Steps/Control.h"
#include "octavo/Program/Steps/Fourier.h"
#include "octavo/Program/Steps/Guards.h"
#include "octavo/Program/Steps/Interpreted.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/LinearAlgebra.h"
#include "octavo/Program/Steps/RandomBits.h"
#include "octavo/Program/Steps/Running.h"
#include "octavo/Program/Steps/Sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace octavo::program {

namespace {

/// Requires two places of one type, between which a value is copied.
void sameType(ProgramFields& fields, const Place& from, const Place& to) {
  if (!from.memory && !to.memory)
    return fields.becomes(to.number, from.number);
  if (from.memory.has_value() != to.memory.has_value() ||
      (from.memory && (from.memory->type != to.memory->type || bytesOf(from) != bytesOf(to))))
    fields.fail("a copy between places of two types");
}

} // namespace

void InterpretedStep::fields(ProgramFields& fields) {
  const OperationText& op = *operation();
  fields.fail(fmt::format("{}: '{}' is evaluated by the interpreter ({}), which the folder of a "
                          "compiled program has not",
                          op.location, op.name, reason));
  // For StepAccesses.h; there is no file.
  fields.list(operands, kMost, [&](Place& place) { fields.place(place, Access::Read); });
  fields.list(results, kMost, [&](Place& place) { fields.place(place, Access::Write); });
}

void GuardedStep::fields(ProgramFields& fields) {
  fields.fail("a program with guards has no form in a file");
  guarded->fields(fields);
}

static void argumentFields(ProgramFields& fields, std::vector<KernelStep::Argument>& arguments) {
  fields.list(arguments, kMost, [&](KernelStep::Argument& each) {
    fields.truth(each.isWritten);
    fields.slotOfKernel(each.slot, each.isWritten ? Access::Write : Access::Read);
  });
}

void KernelStep::fields(ProgramFields& fields) {
  fields.kernel(function, &known.kernel);
  argumentFields(fields, arguments);
  // Without a donation to a kernel, no run is in place, and the code is left out.
  bool hasInPlace = inPlace.function != nullptr && fields.hasKernelDonations();
  fields.truth(hasInPlace);
  if (hasInPlace) {
    fields.kernel(inPlace.function);
    argumentFields(fields, inPlace.arguments);
  }
  fields.number(rows);
  fields.number(width);
  fields.truth(isWholeInEachRange);
  fields.text(known.detail);
  fields.number(known.operations);
  fields.estimate(known.bytes);
}

void UpdateStep::fields(ProgramFields& fields) {
  fields.number(elementBytes, 1, 16);
  for (BatchExtent* spanned : {&box.outer, &box.inner})
    fields.number(*spanned);
  fields.shape(box.shape);
  fields.shape(box.updateShape);
  bool fits = box.shape.size() == box.updateShape.size();
  for (std::size_t axis = 0; fits && axis < box.shape.size(); ++axis)
    fits = fields.isAtMost(box.updateShape[axis], box.shape[axis]);
  fields.list(box.starts, static_cast<std::int64_t>(box.shape.size()), [&](StartIndex& start) {
    fields.number(start.bytes, 1, 8);
    fields.truth(start.isUnsigned);
    fields.slot(start.slot, static_cast<std::uint64_t>(start.bytes), Access::Read);
  });
  if (!fits || box.starts.size() != box.shape.size())
    fields.fail("an update that does not fit what it updates");
  const auto bytes = [&](const std::vector<BatchExtent>& shape) {
    Bytes all = fields.bytes({box.outer, box.inner, elementBytes});
    for (const BatchExtent& extent : shape)
      all = fields.bytes({all.count, extent});
    return all;
  };
  fields.slot(operand, bytes(box.shape), Access::Read);
  fields.slot(update, bytes(box.updateShape), Access::Read);
  fields.slot(result, bytes(box.shape), Access::Write);
}

void ChainStep::fields(ProgramFields& fields) {
  fields.number(rows);
  if (rows == 0)
    return fields.fail("a chain of no rows");
  fields.truth(isBatch);
  fields.beginChain(rows);
  fields.slotsOfChain(slots, bytesOfRow);
  fields.steps(all);
  fields.endChain();
  if (!fields.isReading())
    return;
  for (const std::unique_ptr<Step>& step : all.all()) {
    links.push_back(dynamic_cast<const RowStep*>(step.get()));
    if (links.back() == nullptr)
      fields.fail("a link of a chain that has no rows");
  }
}

void SortStep::fields(ProgramFields& fields) {
  for (BatchExtent* axis : {&lines.outer, &lines.length, &lines.inner})
    fields.number(*axis);
  // A line's elements are numbered with 32 bits.
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (lines.length.square != 0 || std::max(lines.length.fixed, 2 * lines.length.factor) > most ||
      (lines.length.isOpen() && 2 * lines.length.fixed > most))
    fields.fail("lines that are too long to be sorted");
  else
    fields.ofItem(2 * lines.length.factor * (ProgramFields::kMost / most));
  fields.bytes({lines.outer, lines.length, lines.inner}); // also checked if there are no tensors
  fields.list(tensors, kMost, [&](Tensor& tensor) {
    fields.number(tensor.bytes, 1, 16);
    if (!std::has_single_bit(static_cast<unsigned>(tensor.bytes)))
      fields.fail("elements that are not 1, 2, 4, 8 or 16 bytes");
    const Bytes bytes = fields.bytes({lines.outer, lines.length, lines.inner, tensor.bytes});
    fields.slot(tensor.input, bytes, Access::Read);
    fields.slot(tensor.result, bytes, Access::Write);
  });
  fields.kernel(comparator.function);
  fields.list(comparator.reads, kMost,
              [&](Slot& slot) { fields.slotOfKernel(slot, Access::Read); });
  fields.maybe(keys, [&](Keys& each) {
    fields.kernel(each.function);
    fields.list(each.reads, kMost, [&](Slot& slot) { fields.slotOfKernel(slot, Access::Read); });
    fields.number(each.count, 1);
    fields.number(each.bytes, 4, 8);
    if (each.bytes != 4 && each.bytes != 8)
      fields.fail("keys that are not 4 or 8 bytes");
    fields.slot(each.memory,
                fields.bytes({lines.outer, lines.length, lines.inner, each.count, each.bytes}),
                Access::Write);
  });
}

void RandomBitsStep::fields(ProgramFields& fields) {
  fields.choice(generator, Generator::Philox);
  fields.number(state.words, 2, 3);
  const std::uint64_t size = fields.bytes({state.words, sizeof(std::uint64_t)});
  fields.slot(state.given, size, Access::Read);
  fields.slot(state.next, size, Access::Write);
  fields.shape(output.shape);
  fields.number(output.bytes, 1, 8);
  fields.number(output.width, 1, static_cast<int>(8 * output.bytes));
  if (!std::has_single_bit(static_cast<unsigned>(output.bytes)) ||
      (output.bytes == 8) != (output.width == 64))
    fields.fail("elements that are not 1, 2, 4 or 8 bytes");
  fields.slot(output.slot, bytesOf(fields, output.shape, output.bytes), Access::Write);
  if (!fields.failed())
    layOut();
}

static void numbersOf(ProgramFields& fields, Numbers& numbers) {
  fields.truth(numbers.isComplex);
  fields.truth(numbers.isF64);
}

void CholeskyStep::fields(ProgramFields& fields) {
  numbersOf(fields, numbers);
  fields.truth(isLower);
  fields.number(count);
  fields.number(n);
  const Bytes bytes = fields.bytes({count, n, n, numbers.bytes()});
  fields.slot(from, bytes, Access::Read);
  fields.slot(to, bytes, Access::Write);
}

void TriangularSolveStep::fields(ProgramFields& fields) {
  numbersOf(fields, numbers);
  for (bool* truth : {&system.isLeft, &system.isLower, &system.isUnitDiagonal, &system.isTransposed,
                      &system.isConjugate})
    fields.truth(*truth);
  fields.number(count);
  fields.number(n);
  fields.number(others);
  const Bytes bytes = fields.bytes({count, n, others, numbers.bytes()});
  fields.slot(a, fields.bytes({count, n, n, numbers.bytes()}), Access::Read);
  fields.slot(b, bytes, Access::Read);
  fields.slot(x, bytes, Access::Write);
}

void FourierStep::fields(ProgramFields& fields) {
  fields.choice(kind, Kind::RealInverse);
  fields.truth(isF64);
  fields.number(count);
  fields.shape(lengths);
  if (lengths.empty())
    return fields.fail("a transform of no axes");
  std::vector<std::int64_t> half = lengths;
  half.back() = half.back() == 0 ? 0 : half.back() / 2 + 1;
  const std::int64_t part = isF64 ? 8 : 4;
  const auto bytes = [&](const std::vector<std::int64_t>& shape, std::int64_t width) {
    return fields.bytes({count, static_cast<std::int64_t>(bytesOf(fields, shape, width))});
  };
  const bool isRealThere = kind == Kind::RealForward, isRealHere = kind == Kind::RealInverse;
  fields.slot(from,
              isRealThere ? bytes(lengths, part) : bytes(isRealHere ? half : lengths, 2 * part),
              Access::Read);
  fields.slot(to, isRealHere ? bytes(lengths, part) : bytes(isRealThere ? half : lengths, 2 * part),
              Access::Write);
  if (lengths.size() > 1)
    fields.slot(wide,
                fields.bytes({count, static_cast<std::int64_t>(wideBytes(kind, isF64, lengths))}),
                Access::Write);
}

void RunningStep::fields(ProgramFields& fields) {
  fields.choice(combining, Operation::Minimum);
  fields.choice(element, Element::Bf16);
  for (BatchExtent* axis : {&layout.outer, &layout.extent, &layout.inner})
    fields.number(*axis);
  fields.truth(layout.isReversed);
  const Bytes bytes = fields.bytes({layout.outer, layout.extent, layout.inner, bytesOf(element)});
  fields.slot(from, bytes, Access::Read);
  fields.slot(to, bytes, Access::Write);
}

void CopyStep::fields(ProgramFields& fields) {
  fields.place(from, Access::Read);
  fields.place(to, Access::Write);
  sameType(fields, from, to);
}

void WhileStep::fields(ProgramFields& fields) {
  fields.list(carried, kMost, [&](Carried& each) {
    fields.place(each.given, Access::Read);
    fields.place(each.argument, Access::Write);
    fields.place(each.next, Access::Write);
    sameType(fields, each.given, each.argument);
    if (!each.argument.memory && !each.next.memory)
      return; // the body makes the value: checked below
    sameType(fields, each.argument, each.next);
    fields.swapped(Slot{each.argument.number}, Slot{each.next.number});
  });
  fields.steps(condition);
  fields.slot(predicate, 1, Access::Read);
  fields.steps(body);
  for (const Carried& each : carried)
    if (!each.next.memory)
      sameType(fields, each.next, each.argument);
}

void BranchStep::fields(ProgramFields& fields) {
  fields.truth(isPredicate);
  fields.slot(index, isPredicate ? 1 : sizeof(std::int32_t), Access::Read);
  fields.list(results, kMost, [&](Place& place) { fields.place(place, Access::Write); });
  fields.list(branches, kMost, [&](Branch& branch) {
    fields.steps(branch.steps);
    fields.list(branch.results, kMost, [&](Place& place) { fields.place(place, Access::Read); });
    if (branch.results.size() != results.size())
      return fields.fail("a branch of other results than its operation's");
    for (std::size_t i = 0; i < results.size(); ++i)
      sameType(fields, branch.results[i], results[i]);
  });
  if (branches.empty())
    fields.fail("an operation without branches");
}

void FunctionStep::fields(ProgramFields& fields) {
  fields.list(arguments, kMost, [&](Place& place) { fields.place(place, Access::Write); });
  fields.steps(body);
  fields.list(results, kMost, [&](Place& place) { fields.place(place, Access::Read); });
  for (const std::vector<Place>* places : {&arguments, &results})
    for (const Place& place : *places)
      if (!place.memory)
        fields.fail("an argument or a result of a function that is called is no tensor");
  fields.function(*this); // recorded after its body, so that it cannot call itself
}

void CallStep::fields(ProgramFields& fields) {
  fields.callee(callee);
  fields.list(operands, kMost, [&](Place& place) { fields.place(place, Access::Read); });
  fields.list(results, kMost, [&](Place& place) { fields.place(place, Access::Write); });
  if (fields.failed())
    return;
  if (operands.size() != callee->arguments.size() || results.size() != callee->results.size())
    return fields.fail("a call of a function of other arguments or results");
  for (std::size_t i = 0; i < operands.size(); ++i)
    sameType(fields, operands[i], callee->arguments[i]);
  for (std::size_t i = 0; i < results.size(); ++i)
    sameType(fields, callee->results[i], results[i]);
}

} // namespace octavo::program
