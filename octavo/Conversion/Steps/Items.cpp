#include "octavo/Conversion/Steps/Items.h"

#include "octavo/Conversion/Steps/FunctionLowering.h"
#include "octavo/Steps/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace octavo::conversion {

namespace {

using steps::Program;
using steps::Rows;
using steps::Step;

/// Goes through the fields of steps, makes those of all items those of one, and keeps the others.
class ItemFields final : public steps::ProgramFields {
public:
  ItemFields(Program& program, std::int64_t items) : ProgramFields(program), items(items) {}

  bool isReading() const override { return false; }
  bool isTrusted() const override { return true; }
  void rows(Rows& rows, std::int64_t /*least*/) override {
    if (rows.count != 0 && rows.count % items == 0)
      rows = {rows.count / items, true};
    ProgramFields::rows(rows);
  }
  void batch(std::vector<kernels::BatchOffsets>& offsets, bool& isOpen,
             kernels::BatchOffsets& item) override {
    const std::size_t size = offsets.size() / static_cast<std::size_t>(items);
    if (size != 0 && offsets.size() % static_cast<std::size_t>(items) == 0) {
      const auto farther = [](const kernels::BatchOffsets& a, const kernels::BatchOffsets& b) {
        return kernels::BatchOffsets{b.left - a.left, b.right - a.right, b.c - a.c};
      };
      item = farther(offsets[0], offsets[size]);
      isOpen = true;
      for (std::size_t i = 0; i + size < offsets.size(); ++i) {
        const kernels::BatchOffsets step = farther(offsets[i], offsets[i + size]);
        isOpen = isOpen &&
                 std::tie(step.left, step.right, step.c) == std::tie(item.left, item.right, item.c);
      }
      if (isOpen)
        offsets.resize(size);
    }
    ProgramFields::batch(offsets, isOpen, item);
  }
  void scaled(std::vector<std::int64_t>& extents, bool& isOpen,
              numerics::ScaledType& type) override {
    if (!extents.empty() && extents.front() != 0 && extents.front() % items == 0) {
      extents.front() /= items;
      isOpen = true;
    }
    ProgramFields::scaled(extents, isOpen, type);
  }
  void itemsOf(Place& place) override {
    if (!place.memory || !program().slots[static_cast<std::size_t>(place.number)].isOpen)
      return;
    std::vector<std::int64_t>& shape = place.memory->shape;
    const auto axis = std::ranges::find_if(
        shape, [&](std::int64_t extent) { return extent != 0 && extent % items == 0; });
    if (axis == shape.end())
      return;
    *axis /= items;
    place.memory->openAxis = static_cast<int>(axis - shape.begin());
  }
  void estimate(double& value) override { estimates.push_back(&value); }
  void section(kernels::PackedBytes& /*bytes*/, std::size_t /*least*/) override {}

  std::vector<std::uint64_t> kept;
  std::vector<double*> estimates;

private:
  void word(std::uint64_t& bits) override { kept.push_back(bits); }
  void characters(std::string& text, std::size_t count) override {
    kept.insert(kept.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::int64_t mostItems() const override { return kMost; }
  void use(std::size_t /*constant*/) override {}
  void useValue(int /*number*/) override {}

  std::int64_t items;
};

/// Two programs of one function, for two numbers of items.
class Pair {
public:
  Pair(LoweredItems& one, LoweredItems& other)
      : one(one.lowered.program), other(other.lowered.program), ofOne(one.items),
        ofOther(other.items) {}

  std::optional<std::string> open() {
    for (auto part : {&Pair::slots, &Pair::tensors, &Pair::constants, &Pair::steps})
      if (std::optional<std::string> why = (this->*part)())
        return why;
    layOutArena();
    return std::nullopt;
  }

private:
  Program &one, &other;
  std::int64_t ofOne, ofOther;

  std::optional<std::string> slots() {
    const auto counts = [](const Program& program) {
      return std::tuple(program.slots.size(), program.arguments.size(), program.results.size(),
                        program.constants.size(), program.donations.size(), program.valueCount,
                        program.packedCount, program.rightCount, program.operations);
    };
    if (counts(one) != counts(other))
      return "it becomes other steps for other numbers of items";
    for (std::size_t i = 0; i < one.slots.size(); ++i) {
      SlotUse &slot = one.slots[i], &twin = other.slots[i];
      for (auto [each, items] : {std::pair(&slot, ofOne), std::pair(&twin, ofOther)})
        if (each->bytes != 0 && each->bytes % static_cast<std::size_t>(items) == 0) {
          each->bytes /= static_cast<std::size_t>(items);
          each->isOpen = true;
        }
      const auto facts = [](const SlotUse& use) {
        return std::tuple(use.kind, use.bytes, use.isOpen, use.index, use.result, use.first,
                          use.last);
      };
      const bool isRightKind = !slot.isOpen || (slot.kind != SlotUse::Kind::Range &&
                                                slot.kind != SlotUse::Kind::Constant);
      if (facts(slot) != facts(twin) || !isRightKind)
        return "a tensor in memory has a size that is not the same for each item";
    }
    return std::nullopt;
  }

  std::optional<std::string> tensors() {
    for (auto [places, twins] :
         {std::pair(&one.arguments, &other.arguments), std::pair(&one.results, &other.results)})
      for (auto [place, twin] : llvm::zip(*places, *twins)) {
        if (place.number != twin.number || place.memory.has_value() != twin.memory.has_value())
          return "it becomes other steps for other numbers of items";
        if (!place.memory)
          continue;
        std::vector<std::int64_t>&shape = place.memory->shape, &second = twin.memory->shape;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          if (shape[axis] == second[axis])
            continue;
          if (shape[axis] % ofOne != 0 || second[axis] % ofOther != 0 ||
              shape[axis] / ofOne != second[axis] / ofOther || place.memory->openAxis >= 0)
            return "an argument or result has an extent that is not the same for each item";
          shape[axis] /= ofOne;
          place.memory->openAxis = static_cast<int>(axis);
        }
        const bool isOpen = place.memory->openAxis >= 0;
        if (isOpen != one.slots[static_cast<std::size_t>(place.number)].isOpen &&
            steps::bytesOf(place) != 0)
          return "an argument or result has a size that is not the same for each item";
      }
    return std::nullopt;
  }

  std::optional<std::string> constants() {
    for (auto [constant, twin] : llvm::zip(one.constants, other.constants))
      if (!std::ranges::equal(constant.tensor().bytes, twin.tensor().bytes))
        return "a constant depends on the number of items";
    return std::nullopt;
  }

  std::optional<std::string> steps() {
    ItemFields fields(one, ofOne), twins(other, ofOther);
    const auto &first = one.steps.all(), &second = other.steps.all();
    if (first.size() != second.size())
      return "it becomes other steps for other numbers of items";
    for (std::size_t i = 0; i < first.size(); ++i) {
      const execution::OperationText& op = *first[i]->operation();
      const std::string where = fmt::format("{}: '{}'", op.location, op.name);
      if (first[i]->type() == steps::StepType::Interpreted)
        return where + " is evaluated by the interpreter";
      if (first[i]->type() != second[i]->type())
        return where + " becomes another step for another number of items";
      first[i]->fields(fields);
      second[i]->fields(twins);
      if (fields.failed() || twins.failed())
        return where + " is made for one number of items";
      if (fields.kept != twins.kept)
        return where + " depends on the number of items otherwise than by its rows";
      fields.kept.clear();
      twins.kept.clear();
    }
    // What is estimated has a part of its own, and one for each item.
    for (auto [estimate, twin] : llvm::zip(fields.estimates, twins.estimates))
      *estimate -= (*twin - *estimate) / static_cast<double>(ofOther - ofOne) *
                   static_cast<double>(ofOne - 1);
    return std::nullopt;
  }

  /// What is of items lies behind the rest.
  void layOutArena() {
    std::vector<SlotUse*> fixed, open;
    for (SlotUse& slot : one.slots)
      if (slot.kind == SlotUse::Kind::Arena)
        (slot.isOpen ? open : fixed).push_back(&slot);
    one.arenaBytes = layOut(fixed, 0);
    one.itemBytes = layOut(open, 0);
  }
};

} // namespace

std::optional<std::string> openItems(LoweredItems& one, LoweredItems& other, std::int64_t fewest) {
  const ItemPair items{one.items, other.items};
  std::vector<std::string>&kernels = one.lowered.kernels, &twins = other.lowered.kernels;
  if (kernels.size() != twins.size())
    return "it becomes other kernels for other numbers of items";
  if (!staysLess(one.compared, other.compared, items, fewest))
    return "its kernels are of so many items that fewer would be others";
  for (auto [kernel, twin] : llvm::zip(kernels, twins)) {
    if (kernel == twin)
      continue;
    std::optional<std::string> open = kernelOfItems(kernel, twin, items);
    if (!open)
      return "a kernel depends on the number of items otherwise than by sizes";
    kernel = std::move(*open);
  }
  return Pair(one, other).open();
}

} // namespace octavo::conversion
