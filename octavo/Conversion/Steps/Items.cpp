#include "octavo/Conversion/Steps/Items.h"

#include "octavo/Conversion/Steps/FunctionLowering.h"
#include "octavo/Steps/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace octavo::conversion {

namespace {

using steps::Program;
using steps::Step;

using RangeSlot = steps::ChainStep::RangeSlot;

/// The memory of a chain's ranges.
struct ChainMemory {
  std::vector<RangeSlot>* slots;
  ItemNumber* bytesOfRow;
};

/// Goes through the fields of steps that the compiler has made, whose weights are bound later.
class CompiledFields : public steps::ProgramFields {
public:
  using ProgramFields::ProgramFields;

  bool isReading() const final { return false; }
  bool isTrusted() const final { return true; }
  void section(kernels::PackedBytes& /*bytes*/, std::size_t /*least*/) final {}

private:
  std::int64_t mostItems() const final { return kMost; }
  void use(std::size_t /*constant*/) final {}
  void useValue(int /*number*/) final {}
};

/// Goes through the fields of steps for one number of items: keeps those that may be others for
/// another number, and the values of the rest.
class ItemFields final : public CompiledFields {
public:
  using CompiledFields::CompiledFields;

  /// CheckedFields says what is wrong.
  void fail(std::string /*why*/) override {}
  void batch(steps::MatrixBatch& batch) override { batches.push_back(&batch); }
  void slotsOfChain(std::vector<RangeSlot>& slots, ItemNumber& bytesOfRow) override {
    chains.push_back({&slots, &bytesOfRow});
    list(slots, kMost, [&](RangeSlot& each) { number(each.slot); });
  }
  void estimate(double& value) override { estimates.push_back(&value); }
  /// Lets go of what was kept, not of what later steps refer to.
  void clear() {
    numbers.clear();
    batches.clear();
    chains.clear();
    kept.clear();
    estimates.clear();
  }

  std::vector<ItemNumber*> numbers;
  std::vector<steps::MatrixBatch*> batches;
  std::vector<ChainMemory> chains;
  std::vector<std::uint64_t> kept;
  std::vector<double*> estimates;

private:
  void word(std::uint64_t& bits) override { kept.push_back(bits); }
  void characters(std::string& text, std::size_t count) override {
    kept.insert(kept.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void itemNumber(ItemNumber& value) override { numbers.push_back(&value); }
};

/// Holds the fields of steps of any number of items to what their program has.
class CheckedFields final : public CompiledFields {
public:
  using CompiledFields::CompiledFields;
  using ProgramFields::mostItemsOfRun;

private:
  void word(std::uint64_t& /*bits*/) override {}
  void characters(std::string& /*text*/, std::size_t /*count*/) override {}
};

constexpr const char* kOtherSteps = "it becomes other steps for other numbers of items";

/// Two programs of one function, for two numbers of items.
class Pair {
public:
  Pair(LoweredItems& one, LoweredItems& other)
      : one(one.lowered.program), other(other.lowered.program), items{one.items, other.items} {}

  std::optional<std::string> open() {
    for (auto part : {&Pair::steps, &Pair::slots, &Pair::tensors, &Pair::constants})
      if (std::optional<std::string> why = (this->*part)())
        return why;
    layOutMemory();
    // No items are no slice of all of them.
    if (one.items.least == 0 && check())
      one.items.least = 1;
    return check();
  }

private:
  Program &one, &other;
  ItemPair items;
  std::vector<ChainMemory> chains;

  /// Has the number be that of any number of items.
  bool join(ItemNumber& number, const ItemNumber& twin) const {
    const auto joined = itemNumber(number.fixed, twin.fixed, items);
    if (joined)
      number = *joined;
    return joined.has_value();
  }

  /// The same of products of a batch, of which there may be as many for each item.
  bool join(steps::MatrixBatch& batch, const steps::MatrixBatch& twin) const {
    std::vector<kernels::BatchOffsets>&all = batch.offsets, others = twin.offsets;
    if (all.size() != others.size()) {
      const std::optional<kernels::BatchOffsets> item = cutToItem(all, items.one),
                                                 its = cutToItem(others, items.other);
      if (!item || !its || all.size() != others.size() || !areEqual(*item, *its))
        return false;
      batch.isOpen = true;
      batch.item = *item;
    }
    std::vector<kernels::BatchOffsets> factors(all.size());
    bool isOpen = false;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (auto side : {&kernels::BatchOffsets::left, &kernels::BatchOffsets::right,
                        &kernels::BatchOffsets::c}) {
        const auto joined = itemNumber(all[i].*side, others[i].*side, items);
        if (!joined)
          return false;
        all[i].*side = joined->fixed;
        factors[i].*side = joined->factor;
        isOpen = isOpen || joined->isOpen();
      }
    if (isOpen)
      batch.factors = std::move(factors);
    return true;
  }

  static bool areEqual(const kernels::BatchOffsets& a, const kernels::BatchOffsets& b) {
    return std::tie(a.left, a.right, a.c) == std::tie(b.left, b.right, b.c);
  }

  /// Leaves the products of the first of so many items, where those of the others lie as far from
  /// them each: so far.
  static std::optional<kernels::BatchOffsets> cutToItem(std::vector<kernels::BatchOffsets>& all,
                                                        std::int64_t items) {
    const std::size_t size = all.size() / static_cast<std::size_t>(items);
    if (size == 0 || all.size() % static_cast<std::size_t>(items) != 0)
      return std::nullopt;
    const auto farther = [](const kernels::BatchOffsets& a, const kernels::BatchOffsets& b) {
      return kernels::BatchOffsets{b.left - a.left, b.right - a.right, b.c - a.c};
    };
    const kernels::BatchOffsets item = farther(all[0], all[size]);
    for (std::size_t i = 0; i + size < all.size(); ++i)
      if (!areEqual(farther(all[i], all[i + size]), item))
        return std::nullopt;
    all.resize(size);
    return item;
  }

  template <typename Part>
  bool joinAll(const std::vector<Part*>& all, const std::vector<Part*>& twins) const {
    return std::ranges::equal(all, twins,
                              [&](Part* part, const Part* twin) { return join(*part, *twin); });
  }

  std::optional<std::string> steps() {
    const auto counts = [](const Program& program) {
      return std::tuple(program.slots.size(), program.arguments.size(), program.results.size(),
                        program.constants.size(), program.donations.size(), program.valueCount,
                        program.packedCount, program.rightCount, program.operations,
                        program.steps.all().size());
    };
    if (counts(one) != counts(other))
      return kOtherSteps;
    ItemFields fields(one), twins(other);
    const auto &first = one.steps.all(), &second = other.steps.all();
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i]->type() == steps::StepType::Interpreted)
        return placeOf(*first[i]) + " is evaluated by the interpreter";
      if (first[i]->type() != second[i]->type())
        return placeOf(*first[i]) + " becomes another step for another number of items";
      for (ItemFields* each : {&fields, &twins})
        each->clear();
      first[i]->fields(fields);
      second[i]->fields(twins);
      if (fields.kept != twins.kept || !joinAll(fields.numbers, twins.numbers) ||
          !joinAll(fields.batches, twins.batches))
        return placeOf(*first[i]) + " depends on the number of items otherwise than by sizes";
      chains.insert(chains.end(), fields.chains.begin(), fields.chains.end());
      // What is estimated has a part of its own, and one for each item.
      for (auto [estimate, twin] : llvm::zip(fields.estimates, twins.estimates))
        *estimate -= (*twin - *estimate) / static_cast<double>(items.other - items.one) *
                     static_cast<double>(items.one - 1);
    }
    return std::nullopt;
  }

  std::optional<std::string> slots() {
    for (std::size_t i = 0; i < one.slots.size(); ++i) {
      SlotUse &slot = one.slots[i], &twin = other.slots[i];
      const auto facts = [](const SlotUse& use) {
        return std::tuple(use.kind, use.index, use.result, use.first, use.last);
      };
      if (facts(slot) != facts(twin) || !join(slot.bytes, twin.bytes))
        return "a tensor in memory has a size that is not the same for each item";
    }
    return std::nullopt;
  }

  std::optional<std::string> tensors() {
    for (auto [places, twins] :
         {std::pair(&one.arguments, &other.arguments), std::pair(&one.results, &other.results)})
      for (auto [place, twin] : llvm::zip(*places, *twins)) {
        if (place.number != twin.number || place.memory.has_value() != twin.memory.has_value())
          return kOtherSteps;
        if (!place.memory)
          continue;
        int open = 0;
        for (auto [extent, its] : llvm::zip(place.memory->shape, twin.memory->shape)) {
          if (!join(extent, its))
            return "an argument or result has an extent that is not the same for each item";
          open += extent.isOpen() ? 1 : 0;
        }
        if (open > 1)
          return "an argument or result has more than one axis of items";
      }
    return std::nullopt;
  }

  std::optional<std::string> constants() {
    for (auto [constant, twin] : llvm::zip(one.constants, other.constants))
      if (!std::ranges::equal(constant.tensor().bytes, twin.tensor().bytes))
        return "a constant depends on the number of items";
    return std::nullopt;
  }

  /// For any number of items.
  std::optional<std::string> check() {
    CheckedFields fields(one);
    for (const std::unique_ptr<Step>& step : one.steps.all()) {
      step->fields(fields);
      if (fields.failed())
        return placeOf(*step) + " is made for one number of items";
    }
    one.items.most = fields.mostItemsOfRun();
    return std::nullopt;
  }

  static std::string placeOf(const Step& step) {
    const execution::OperationText& op = *step.operation();
    return fmt::format("{}: '{}'", op.location, op.name);
  }

  void layOutMemory() {
    std::vector<SlotUse*> arena;
    for (SlotUse& slot : one.slots)
      if (slot.kind == SlotUse::Kind::Arena)
        arena.push_back(&slot);
    one.arenaBytes = layOut(arena, 0);
    for (const auto& [slots, bytesOfRow] : chains) {
      const auto useOf = [&](const RangeSlot& each) {
        return &one.slots[static_cast<std::size_t>(each.slot.number)];
      };
      std::vector<SlotUse*> ranges;
      std::ranges::transform(*slots, std::back_inserter(ranges), useOf);
      *bytesOfRow = layOut(ranges, 0);
      for (RangeSlot& each : *slots) {
        each.offset = useOf(each)->offset;
        each.bytes = useOf(each)->bytes;
      }
    }
  }
};

} // namespace

std::optional<std::string> openItems(LoweredItems& one, LoweredItems& other, std::int64_t fewest) {
  const ItemPair items{one.items, other.items};
  std::vector<std::string>&kernels = one.lowered.kernels, &twins = other.lowered.kernels;
  if (kernels.size() != twins.size())
    return "it becomes other kernels for other numbers of items";
  std::optional<std::int64_t> least = whereLess(one.compared, other.compared, items);
  for (auto [kernel, twin] : llvm::zip(kernels, twins)) {
    if (kernel == twin)
      continue;
    std::optional<KernelOfItems> open = kernelOfItems(kernel, twin, items);
    if (!open)
      return "a kernel depends on the number of items otherwise than by sizes";
    kernel = std::move(open->text);
    if (least)
      least = std::max(*least, open->fewest);
  }
  if (!least || *least > std::max(fewest, steps::kMostFewest))
    return "its kernels are of so many items that fewer would be others";
  one.lowered.program.items = {std::max(fewest, *least), steps::kMostItems};
  return Pair(one, other).open();
}

} // namespace octavo::conversion
