#include "octavo/Program/Steps/ProgramRunner.h"

#include "octavo/Program/Values/RefusedInput.h"
#include "octavo/Program/Values/SharedMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

namespace octavo::program {

ProgramRunner::Memory ProgramRunner::allocate(std::size_t bytes) {
  const std::size_t size = (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  return Memory(
      static_cast<std::byte*>(std::aligned_alloc(kSlotAlignment, std::max(size, kSlotAlignment))));
}

bool ProgramRunner::takesUnread(std::size_t argument) const {
  const Place& place = whole.arguments[argument];
  if (!place.memory)
    return false;
  const SlotUse& use = whole.slots[static_cast<std::size_t>(place.number)];
  return use.kind == SlotUse::Kind::Argument && use.uses == use.packs;
}

std::int64_t ProgramRunner::itemsOf(std::span<const Value> arguments) const {
  for (std::size_t i = 0; i < std::min(arguments.size(), whole.arguments.size()); ++i) {
    const auto& place = whole.arguments[i].memory;
    if (!place || place->openAxis() < 0 || !arguments[i].isTensor())
      continue;
    const auto axis = static_cast<std::size_t>(place->openAxis());
    const std::vector<std::int64_t>& shape = arguments[i].tensor().shape;
    if (axis < shape.size())
      return (shape[axis] - place->shape[axis].fixed) / place->shape[axis].factor;
  }
  return 1;
}

/// A workspace, reused from an earlier run if there is one. Its arena grows with the batch size.
tl::expected<std::unique_ptr<ProgramRunner::Workspace>, std::string>
ProgramRunner::workspace(std::int64_t items) {
  std::unique_ptr<Workspace> work = idle.take();
  if (!work)
    work = std::make_unique<Workspace>(whole);
  work->frame.items = items;
  const BatchExtent& ofArena = whole.arenaBytes;
  std::int64_t all = 0;
  const bool isTooMuch = __builtin_mul_overflow(ofArena.square, items, &all) ||
                         __builtin_add_overflow(ofArena.factor, all, &all) ||
                         __builtin_mul_overflow(items, all, &all) ||
                         __builtin_add_overflow(ofArena.fixed, all, &all);
  const auto bytes = static_cast<std::size_t>(all);
  if (!isTooMuch && work->arena && work->bytes >= bytes)
    return work;
  work->arena = isTooMuch ? nullptr : allocate(bytes);
  work->bytes = bytes;
  if (!work->arena)
    return tl::make_unexpected(
        fmt::format("there is not enough memory for the {} bytes that the program works on{}",
                    items == 1            ? ofArena.of(1)
                    : ofArena.square != 0 ? ofArena.square
                                          : ofArena.factor,
                    items == 1 ? ""
                               : fmt::format(" for each {} of {} items",
                                             ofArena.square != 0 ? "pair" : "one", items)));
  return work;
}

bool ProgramRunner::canOverwrite(std::size_t argument, std::size_t result) const {
  const Place &from = whole.arguments[argument], &to = whole.results[result];
  if (!from.memory || !to.memory)
    return false;
  const SlotUse& read = whole.slots[static_cast<std::size_t>(from.number)];
  const SlotUse& written = whole.slots[static_cast<std::size_t>(to.number)];
  if (from.number == to.number)
    return true;
  const auto isDonated = [&](const Program::Donation& each) {
    return each.argument == argument && each.result == result;
  };
  if (std::ranges::any_of(whole.donations, isDonated))
    return true;
  // A kernel donation expects that only its own argument lies in the result's memory.
  const bool isTaken = std::ranges::any_of(
      whole.donations, [&](const auto& each) { return each.isByKernel && each.result == result; });
  return written.kind == SlotUse::Kind::Result && read.last < written.first && !isTaken;
}

/// Whether only this run holds the value, so that it may write to it.
static bool isOwn(const Value& value) {
  return value.isTensor() && !value.isShared() && !value.tensor().bytes.isLent();
}

/// Sets Frame::isInPlace. A kernel has in-place code for all of its donated arguments or for none.
template <typename IsGiven>
void ProgramRunner::beginInPlace(Frame& frame, const IsGiven& isGiven) const {
  frame.isInPlace = std::ranges::any_of(
      whole.donations, [&](const auto& each) { return each.isByKernel && isGiven(each); });
}

/// Results in the memory of donated arguments, or in new memory. Throws std::bad_alloc.
std::vector<Tensor> ProgramRunner::ownResults(Frame& frame, std::span<Value> arguments) const {
  std::vector<Tensor> results(whole.results.size(), Tensor{format::element("f32"), {}, {}});
  beginInPlace(frame, [&](const auto& each) { return isOwn(arguments[each.argument]); });
  for (const Program::Donation& each : whole.donations)
    if (isOwn(arguments[each.argument]) || (each.isByKernel && frame.isInPlace))
      results[each.result] = arguments[each.argument].takeTensor();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& place = whole.results[i].memory;
    if (!place || results[i].bytes.data() != nullptr)
      continue;
    const SlotUse& slot = whole.slots[static_cast<std::size_t>(whole.results[i].number)];
    results[i] = slot.kind == SlotUse::Kind::Donated
                     ? arguments[static_cast<std::size_t>(slot.index)].takeTensor()
                     : Tensor{place->type, place->shapeOf(frame.items),
                              numerics::Bytes::unset(
                                  static_cast<std::size_t>(bytesOf(whole.results[i]).of(frame)))};
  }
  return results;
}

/// Places results in the caller's memory.
void ProgramRunner::placeIn(Workspace& work, std::span<const Value> arguments,
                            ResultMemory memory) const {
  for (std::size_t i = 0; i < work.results.size(); ++i)
    work.results[i] = memory[i].data();
  beginInPlace(work.frame, [&](const auto& each) {
    const Value& argument = arguments[each.argument];
    return argument.isTensor() && argument.tensor().bytes.data() == work.results[each.result];
  });
}

/// Moves donated arguments to the memory of their results.
void ProgramRunner::placeDonated(Workspace& work, std::span<Value> arguments) const {
  const auto copy = [&](std::size_t argument, std::size_t result) {
    const numerics::Bytes& given = arguments[argument].tensor().bytes;
    if (given.data() != work.results[result])
      std::ranges::copy(given, work.results[result]);
    arguments[argument] = Value();
  };
  for (std::size_t i = 0; i < whole.results.size(); ++i) {
    if (!whole.results[i].memory)
      continue;
    const SlotUse& slot = whole.slots[static_cast<std::size_t>(whole.results[i].number)];
    if (const auto argument = static_cast<std::size_t>(slot.index);
        slot.kind == SlotUse::Kind::Donated && arguments[argument].isTensor())
      copy(argument, i);
  }
  for (const Program::Donation& each : whole.donations) {
    if (each.isByKernel && work.frame.isInPlace && arguments[each.argument].isTensor())
      copy(each.argument, each.result);
    if (!arguments[each.argument].isTensor()) // it was taken for the result, or copied above
      work.frame.whole.memory[static_cast<std::size_t>(whole.arguments[each.argument].number)] =
          work.results[each.result];
  }
}

Outcome ProgramRunner::bind(std::size_t argument, const Value& value) const {
  const Place& place = whole.arguments[argument];
  return whole.steps.bind(place.memory ? Binding{.slot = place.number, .value = value}
                                       : Binding{.place = place.number, .value = value});
}

/// Checks the arguments, copies those that overlap results, and sets those that have no slots.
Outcome ProgramRunner::takeArguments(Frame& frame, std::span<Value> arguments,
                                     const RunContext& host, ResultMemory memory) const {
  if (arguments.size() != whole.arguments.size())
    return tl::make_unexpected(fmt::format("the function takes {} arguments; {} were given",
                                           whole.arguments.size(), arguments.size()));
  if (!memory.empty() && memory.size() != whole.results.size())
    return tl::make_unexpected(fmt::format("the function has {} results; memory of {} was given",
                                           whole.results.size(), memory.size()));
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (const Place& place = whole.results[i];
        place.memory && static_cast<std::int64_t>(memory[i].size()) != bytesOf(place).of(frame))
      return tl::make_unexpected(fmt::format("result {} takes {} bytes; memory of {} was given", i,
                                             bytesOf(place).of(frame), memory[i].size()));
  frame.host = &host;
  try {
    program::keepApart(arguments, memory, [this](std::size_t argument, std::size_t result) {
      return canOverwrite(argument, result);
    });
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(std::string(
        "there is not enough memory for a copy of an argument that a result is written over"));
  }
  for (const BoundValue& bound : whole.values)
    frame.values[static_cast<std::size_t>(bound.number)] = bound.value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Place& place = whole.arguments[i];
    if (!place.memory) {
      frame.values[static_cast<std::size_t>(place.number)] = std::move(arguments[i]);
      continue;
    }
    if (arguments[i].isUnread() && takesUnread(i) &&
        place.memory->fits(arguments[i].unread().shape, frame.items) &&
        arguments[i].unread().type == place.memory->type)
      continue;
    if (!arguments[i].isTensor() || !place.memory->fits(arguments[i].tensor().shape, frame.items) ||
        arguments[i].tensor().type != place.memory->type)
      return tl::make_unexpected(fmt::format("argument {} does not fit its type", i));
  }
  return {};
}

/// Runs the steps. Arguments were taken and results placed before.
Outcome ProgramRunner::execute(Workspace& work, std::span<Value> arguments) const {
  Frame& frame = work.frame;
  placeDonated(work, arguments);
  for (std::size_t i = 0; i < whole.slots.size(); ++i) {
    const SlotUse& slot = whole.slots[i];
    const auto index = static_cast<std::size_t>(slot.index);
    switch (slot.kind) {
    case SlotUse::Kind::Arena:
      frame.whole.memory[i] = work.arena.get() + slot.offset.of(frame);
      break;
    case SlotUse::Kind::Range: // its chain provides the memory
    case SlotUse::Kind::Rows:  // its product provides the memory
      break;
    case SlotUse::Kind::Argument:      // read only
      if (arguments[index].isTensor()) // else it is packed, or lies in a result's memory
        frame.whole.memory[i] = const_cast<std::byte*>(arguments[index].tensor().bytes.data());
      frame.owners[i] =
          arguments[index].isUnread() || arguments[index].isShared() ? &arguments[index] : nullptr;
      break;
    case SlotUse::Kind::Donated:
      frame.whole.memory[i] = work.results[static_cast<std::size_t>(slot.result)];
      break;
    case SlotUse::Kind::Constant:
      if (whole.constants[index].isTensor()) // else it is packed
        frame.whole.memory[i] =
            const_cast<std::byte*>(whole.constants[index].tensor().bytes.data());
      frame.owners[i] = &whole.constants[index];
      break;
    case SlotUse::Kind::Result:
      frame.whole.memory[i] = work.results[index];
      break;
    }
  }
  if (whole.guards)
    whole.guards->begin(frame);
  return whole.steps.run(frame).map_error([&](std::string error) {
    return program::withPlace(std::move(error), whole.argumentNames, arguments);
  });
}

/// Releases the run's values and their packed forms, and keeps the memory for the next run.
void ProgramRunner::end(std::unique_ptr<Workspace> work) {
  std::ranges::fill(work->frame.values, Value());
  for (RightOperand& right : work->frame.rights)
    right.form = nullptr;
  idle.giveBack(std::move(work));
}

tl::expected<std::vector<Value>, std::string>
ProgramRunner::run(std::vector<Value> arguments, const RunContext& host, ResultMemory memory) {
  auto work = workspace(itemsOf(arguments));
  if (!work)
    return tl::make_unexpected(std::move(work.error()));
  Frame& frame = (*work)->frame;
  if (Outcome taken = takeArguments(frame, arguments, host, memory); !taken)
    return tl::make_unexpected(std::move(taken.error()));
  std::vector<Tensor> results;
  if (memory.empty()) {
    try {
      results = ownResults(frame, arguments);
    } catch (const std::bad_alloc&) {
      return tl::make_unexpected(std::string("there is not enough memory for the results"));
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      (*work)->results[i] = results[i].bytes.data();
  } else {
    placeIn(**work, arguments, memory);
    for (std::size_t i = 0; i < whole.results.size(); ++i)
      if (const auto& place = whole.results[i].memory)
        results.push_back({place->type, place->shapeOf(frame.items),
                           numerics::Bytes::lent(memory[i], /*lender=*/nullptr)});
      else
        results.push_back(Tensor{format::element("f32"), {}, {}});
  }
  if (Outcome outcome = execute(**work, arguments); !outcome)
    return tl::make_unexpected(std::move(outcome.error()));
  std::vector<Value> values;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Place& place = whole.results[i];
    values.push_back(place.memory ? Value(std::move(results[i])) : read(frame, place));
  }
  end(std::move(*work));
  return values;
}

Outcome ProgramRunner::runInto(std::span<Value> arguments, const RunContext& host,
                               ResultMemory memory) {
  auto work = workspace(itemsOf(arguments));
  if (!work)
    return tl::make_unexpected(std::move(work.error()));
  if (Outcome taken = takeArguments((*work)->frame, arguments, host, memory); !taken)
    return taken;
  placeIn(**work, arguments, memory);
  if (Outcome outcome = execute(**work, arguments); !outcome)
    return outcome;
  end(std::move(*work));
  return {};
}

} // namespace octavo::program
