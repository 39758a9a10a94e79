// Fields of slots, and of the chains and prologues that give some slots memory (ProgramFields.h).
#include "octavo/Program/Steps/File/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::program {

void ProgramFields::number(Slot& slot) {
  number(slot.number, 0, std::max(0, static_cast<int>(of.slots.size()) - 1));
  if (of.slots.empty())
    fail("a slot of a program that has none");
}

const SlotUse* ProgramFields::useOf(Slot slot) const {
  return problem ? nullptr : &of.slots[static_cast<std::size_t>(slot.number)];
}

void ProgramFields::require(Slot slot, Bytes bytes, Access access) {
  uses(slot, access);
  const SlotUse* use = useOf(slot);
  if (use == nullptr)
    return;
  if (use->kind == SlotUse::Kind::Range)
    return fail(
        fmt::format("slot {} has memory for rows of a chain, and is used as a whole", slot.number));
  if (use->kind == SlotUse::Kind::Rows)
    return fail(fmt::format("slot {} has memory for a prologue alone", slot.number));
  const std::int64_t fewest = std::max(of.items.least, bytes.from);
  if (fewest <= of.items.most && !isAtMost(bytes.count, use->bytes, bytes.from)) {
    const bool isOfEach = bytes.count.factor > use->bytes.factor;
    fail(fmt::format("slot {} has {} bytes{}, {} are used", slot.number,
                     isOfEach ? use->bytes.factor : use->bytes.of(fewest),
                     isOfEach ? " for each item" : "",
                     isOfEach ? bytes.count.factor : bytes.count.of(fewest)));
  }
  const bool isConstant = use->kind == SlotUse::Kind::Constant;
  if (access == Access::Write && (isConstant || use->kind == SlotUse::Kind::Argument))
    fail(fmt::format("slot {} is not to be written to", slot.number));
  if (isConstant)
    this->use(static_cast<std::size_t>(use->index));
}

/// Whether kernels may write there. A kernel may write to an argument only if it is donated to a
/// kernel.
bool ProgramFields::isWritable(const SlotUse& use) const {
  return use.kind == SlotUse::Kind::Argument
             ? std::ranges::any_of(of.donations,
                                   [&](const Program::Donation& each) {
                                     return each.isByKernel &&
                                            each.argument == static_cast<std::size_t>(use.index);
                                   })
             : use.kind != SlotUse::Kind::Constant;
}

bool ProgramFields::isRange(Slot slot) const {
  const SlotUse* use = useOf(slot);
  return use != nullptr && use->kind == SlotUse::Kind::Range;
}

BatchExtent ProgramFields::bytesInEach(Slot slot) {
  if (failed())
    return 0;
  if (!chainSlots.contains(slot.number))
    fail(fmt::format("slot {} is another chain's", slot.number));
  return of.slots[static_cast<std::size_t>(slot.number)].bytes;
}

void ProgramFields::requireInEach(Slot slot, const BatchExtent& rows, BatchExtent bytesOfRow,
                                  Access access) {
  uses(slot, access);
  const BatchExtent room = bytesInEach(slot);
  if (const BatchExtent used = times(rowsInEach(rows), bytesOfRow); used != room)
    fail(fmt::format("slot {} has {} bytes for each row of its chain, {} are used", slot.number,
                     room.of(1), used.of(1)));
}

std::int64_t ProgramFields::rowsInEach(const BatchExtent& rows) {
  if (chain != kNoChain && !problem) {
    const auto part = chainRows.square != 0   ? &BatchExtent::square
                      : chainRows.factor != 0 ? &BatchExtent::factor
                                              : &BatchExtent::fixed;
    const std::int64_t each = rows.*part / chainRows.*part;
    if (times(chainRows, each) == rows)
      return each;
  }
  fail(fmt::format("{} rows in a chain of {}", rows.of(1), chainRows.of(1)));
  return 0;
}

void ProgramFields::slotOfKernel(Slot& slot, Access access) {
  number(slot);
  uses(slot, access);
  const SlotUse* use = useOf(slot);
  if (use == nullptr)
    return;
  if (use->kind == SlotUse::Kind::Range && !chainSlots.contains(slot.number))
    fail(fmt::format("slot {} is another chain's", slot.number));
  if (use->kind == SlotUse::Kind::Rows && slot.number != rowsSlot)
    fail(fmt::format("slot {} is another prologue's", slot.number));
  if (access == Access::Write && !isWritable(*use))
    fail(fmt::format("slot {} is not to be written to", slot.number));
  if (use->kind == SlotUse::Kind::Constant)
    this->use(static_cast<std::size_t>(use->index));
}

bool ProgramFields::isConstant(Slot slot) const {
  return slot.number >= 0 && static_cast<std::size_t>(slot.number) < of.slots.size() &&
         of.slots[static_cast<std::size_t>(slot.number)].kind == SlotUse::Kind::Constant;
}

bool ProgramFields::hasKernelDonations() const {
  return std::ranges::any_of(of.donations, &Program::Donation::isByKernel);
}

bool ProgramFields::isBound(int value) const {
  return std::ranges::find(of.values, value, &BoundValue::number) != of.values.end();
}

void ProgramFields::place(Place& place, Access access) {
  bool isInMemory = place.memory.has_value();
  truth(isInMemory);
  if (!isInMemory) {
    value(place.number);
    return usesValue(place.number, access);
  }
  std::optional<numerics::ElementType> type;
  if (place.memory)
    type = place.memory->type;
  elementType(type);
  std::vector<BatchExtent> local, &extents = place.memory ? place.memory->shape : local;
  shape(extents);
  Bytes all = type ? static_cast<std::uint64_t>(type->bytes()) : 0;
  for (const BatchExtent& extent : extents)
    all = bytes({all.count, extent});
  Slot slot{place.number};
  this->slot(slot, all, access);
  place.number = slot.number;
  if (isReading() && type)
    place.memory = Place::InMemory{*type, std::move(extents)};
}

void ProgramFields::swapped(Slot a, Slot b) {
  if (problem)
    return;
  const SlotUse &one = of.slots[static_cast<std::size_t>(a.number)],
                &other = of.slots[static_cast<std::size_t>(b.number)];
  if (a.number != b.number &&
      (one.kind != SlotUse::Kind::Arena || other.kind != one.kind || one.bytes != other.bytes))
    fail(fmt::format("slots {} and {} do not change places", a.number, b.number));
}

void ProgramFields::beginChain(const BatchExtent& rows) {
  if (chain != kNoChain)
    fail("a chain within a chain");
  chain = chains++;
  chainRows = rows;
}

void ProgramFields::slotsOfChain(std::vector<ChainStep::RangeSlot>& slots,
                                 BatchExtent& bytesOfRow) {
  number(bytesOfRow);
  list(slots, kMost, [&](ChainStep::RangeSlot& each) {
    number(each.slot);
    number(each.offset);
    number(each.bytes);
    if (failed())
      return;
    if (!isAtMost(plus(each.offset, each.bytes), bytesOfRow) || !isAligned(each.offset))
      return fail("a slot beyond the memory of its chain");
    if (!isRange(each.slot) ||
        of.slots[static_cast<std::size_t>(each.slot.number)].bytes != each.bytes)
      return fail(fmt::format("slot {} is no memory of a chain's with {} bytes for each row",
                              each.slot.number, each.bytes.of(1)));
    chainSlots.insert(each.slot.number);
  });
  bytes({chainRows, bytesOfRow});
}

void ProgramFields::endChain() {
  chain = kNoChain;
  chainSlots.clear();
}

} // namespace octavo::program
