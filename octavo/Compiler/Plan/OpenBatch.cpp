#include "octavo/Compiler/Plan/OpenBatch.h"

#include "octavo/Compiler/Plan/FunctionLowering.h"
#include "octavo/Program/Steps/File/ProgramFields.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace octavo::compiler {

namespace {

using program::Program;
using program::Step;

using RangeSlot = program::ChainStep::RangeSlot;

/// The slots of a chain's ranges, with the size of their memory for one row.
struct ChainMemory {
  std::vector<RangeSlot>* slots;
  BatchExtent* bytesOfRow;
};

/// Visits the fields of steps that the compiler has made, whose weights are not bound yet.
class CompiledFields : public program::ProgramFields {
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

/// Visits the fields of steps for one batch size. Keeps those that may depend on the batch size,
/// and the values of the others.
class ItemFields final : public CompiledFields {
public:
  using CompiledFields::CompiledFields;

  /// Errors are left to CheckedFields.
  void fail(std::string /*why*/) override {}
  void batch(program::MatrixBatch& batch) override { batches.push_back(&batch); }
  void slotsOfChain(std::vector<RangeSlot>& slots, BatchExtent& bytesOfRow) override {
    chains.push_back({&slots, &bytesOfRow});
    list(slots, kMost, [&](RangeSlot& each) { number(each.slot); });
  }
  void estimate(double& value) override { estimates.push_back(&value); }
  /// Forgets the fields of the last step, but not what later steps refer to.
  void clear() {
    numbers.clear();
    batches.clear();
    chains.clear();
    kept.clear();
    estimates.clear();
  }

  std::vector<BatchExtent*> numbers;
  std::vector<program::MatrixBatch*> batches;
  std::vector<ChainMemory> chains;
  std::vector<std::uint64_t> kept;
  std::vector<double*> estimates;

private:
  void word(std::uint64_t& bits) override { kept.push_back(bits); }
  void characters(std::string& text, std::size_t count) override {
    kept.insert(kept.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void itemNumber(BatchExtent& value) override { numbers.push_back(&value); }
};

/// Checks the fields of steps for every batch size against their program.
class CheckedFields final : public CompiledFields {
public:
  using CompiledFields::CompiledFields;
  using ProgramFields::mostItemsOfRun;

private:
  void word(std::uint64_t& /*bits*/) override {}
  void characters(std::string& /*text*/, std::size_t /*count*/) override {}
};

constexpr const char* kOtherSteps = "it becomes other steps for other numbers of items";

/// The programs of one function for several batch sizes.
class Programs {
public:
  explicit Programs(llvm::MutableArrayRef<LoweredItems> lowered)
      : one(lowered.front().lowered.program) {
    for (LoweredItems& each : lowered) {
      all.push_back(&each.lowered.program);
      items.push_back(each.items);
    }
  }

  std::optional<std::string> open() {
    for (auto part : {&Programs::steps, &Programs::slots, &Programs::tensors, &Programs::constants})
      if (std::optional<std::string> why = (this->*part)())
        return why;
    layOutMemory();
    // A program that slices samples is not valid for batch size 0; then it starts at 1.
    if (one.items.least == 0 && check())
      one.items.least = 1;
    return check();
  }

private:
  Program& one;
  std::vector<Program*> all;
  std::vector<std::int64_t> items;
  std::vector<ChainMemory> chains;

  /// Calls `part` for each program, and returns the results.
  template <typename Part> auto ofAll(const Part& part) const {
    std::vector<std::decay_t<decltype(part(one))>> parts;
    for (Program* each : all)
      parts.push_back(part(*each));
    return parts;
  }

  /// Makes the first number the extent of any batch size. Returns whether there is one.
  bool join(llvm::ArrayRef<BatchExtent*> numbers) const {
    std::vector<std::int64_t> values;
    for (const BatchExtent* each : numbers)
      values.push_back(each->fixed);
    const auto joined = itemNumber(values, items);
    if (joined)
      *numbers.front() = *joined;
    return joined.has_value();
  }

  /// The same for the products of a batch. Each sample may have products of its own.
  bool join(llvm::ArrayRef<program::MatrixBatch*> batches) const {
    program::MatrixBatch& batch = *batches.front();
    std::vector<kernels::BatchOffsets>& offsets = batch.offsets;
    const auto areAsMany = [&] {
      return llvm::all_of(batches, [&](const program::MatrixBatch* each) {
        return each->offsets.size() == offsets.size();
      });
    };
    if (!areAsMany()) {
      std::optional<kernels::BatchOffsets> first;
      for (auto [each, count] : llvm::zip(batches, items)) {
        const std::optional<kernels::BatchOffsets> item = cutToItem(each->offsets, count);
        if (!item || (first && !areEqual(*first, *item)))
          return false;
        first = item;
      }
      if (!areAsMany())
        return false;
      batch.isOpen = true;
      batch.item = *first;
    }
    std::vector<kernels::BatchOffsets> factors(offsets.size()), squares(offsets.size());
    bool isOpen = false;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      for (auto side : {&kernels::BatchOffsets::left, &kernels::BatchOffsets::right,
                        &kernels::BatchOffsets::c}) {
        std::vector<std::int64_t> values;
        for (const program::MatrixBatch* each : batches)
          values.push_back(each->offsets[i].*side);
        const auto joined = itemNumber(values, items);
        if (!joined)
          return false;
        offsets[i].*side = joined->fixed;
        factors[i].*side = joined->factor;
        squares[i].*side = joined->square;
        isOpen = isOpen || joined->isOpen();
      }
    if (isOpen) {
      batch.factors = std::move(factors);
      batch.squares = std::move(squares);
    }
    return true;
  }

  static bool areEqual(const kernels::BatchOffsets& a, const kernels::BatchOffsets& b) {
    return std::tie(a.left, a.right, a.c) == std::tie(b.left, b.right, b.c);
  }

  /// Cuts `all` to the products of the first sample, if those of each further sample lie at the
  /// same distance from the sample before. Returns that distance.
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

  /// Joins the entries of the lists, one list for each program.
  template <typename Part> bool joinAll(llvm::ArrayRef<const std::vector<Part*>*> lists) const {
    const std::size_t count = lists.front()->size();
    if (llvm::any_of(lists, [&](const auto* each) { return each->size() != count; }))
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Part*> parts;
      for (const std::vector<Part*>* each : lists)
        parts.push_back((*each)[i]);
      if (!join(parts))
        return false;
    }
    return true;
  }

  std::optional<std::string> steps() {
    const auto counts = [](const Program& program) {
      return std::tuple(program.slots.size(), program.arguments.size(), program.results.size(),
                        program.constants.size(), program.donations.size(), program.valueCount,
                        program.packedCount, program.rightCount, program.operations,
                        program.steps.all().size());
    };
    if (!llvm::all_equal(ofAll(counts)))
      return kOtherSteps;
    std::vector<std::unique_ptr<ItemFields>> fields;
    for (Program* each : all)
      fields.push_back(std::make_unique<ItemFields>(*each));
    for (std::size_t i = 0; i < one.steps.all().size(); ++i) {
      const Step& step = *one.steps.all()[i];
      if (step.type() == program::StepType::Interpreted)
        return placeOf(step) + " is evaluated by the interpreter";
      if (step.type() == program::StepType::Function)
        return placeOf(step) + " is called, not inlined";
      if (!llvm::all_equal(ofAll([&](const Program& each) { return each.steps.all()[i]->type(); })))
        return placeOf(step) + " becomes another step for another number of items";
      std::vector<const std::vector<BatchExtent*>*> numbers;
      std::vector<const std::vector<program::MatrixBatch*>*> batches;
      bool isKept = true;
      for (auto [each, program] : llvm::zip(fields, all)) {
        each->clear();
        program->steps.all()[i]->fields(*each);
        numbers.push_back(&each->numbers);
        batches.push_back(&each->batches);
        isKept = isKept && each->kept == fields.front()->kept;
      }
      if (!isKept || !joinAll<BatchExtent>(numbers) || !joinAll<program::MatrixBatch>(batches))
        return placeOf(step) + " depends on the number of items otherwise than by sizes";
      chains.insert(chains.end(), fields.front()->chains.begin(), fields.front()->chains.end());
      // An estimate has a constant part and a part for each sample.
      for (auto [estimate, twin] : llvm::zip(fields[0]->estimates, fields[1]->estimates))
        *estimate -= (*twin - *estimate) / static_cast<double>(items[1] - items[0]) *
                     static_cast<double>(items[0] - 1);
    }
    return std::nullopt;
  }

  std::optional<std::string> slots() {
    for (std::size_t i = 0; i < one.slots.size(); ++i) {
      const auto facts = [&](const Program& program) {
        const SlotUse& use = program.slots[i];
        return std::tuple(use.kind, use.index, use.result, use.first, use.last);
      };
      if (!llvm::all_equal(ofAll(facts)) ||
          !join(ofAll([&](Program& program) { return &program.slots[i].bytes; })))
        return "a tensor in memory has a size that is not the same for each item";
    }
    return std::nullopt;
  }

  std::optional<std::string> tensors() {
    for (auto list : {&Program::arguments, &Program::results})
      for (std::size_t i = 0; i < (one.*list).size(); ++i) {
        const auto facts = [&](const Program& program) {
          const program::Place& place = (program.*list)[i];
          return std::tuple(place.number, place.memory.has_value(),
                            place.memory ? place.memory->shape.size() : 0);
        };
        if (!llvm::all_equal(ofAll(facts)))
          return kOtherSteps;
        if (!(one.*list)[i].memory)
          continue;
        for (std::size_t axis = 0; axis < (one.*list)[i].memory->shape.size(); ++axis)
          if (!join(
                  ofAll([&](Program& program) { return &(program.*list)[i].memory->shape[axis]; })))
            return "an argument or result has an extent that is not the same for each item";
      }
    return std::nullopt;
  }

  std::optional<std::string> constants() {
    for (std::size_t i = 0; i < one.constants.size(); ++i)
      for (const Program* other : llvm::drop_begin(all))
        if (!std::ranges::equal(one.constants[i].tensor().bytes,
                                other->constants[i].tensor().bytes))
          return "a constant depends on the number of items";
    return std::nullopt;
  }

  /// Checks the program for any batch size, and bounds its largest.
  std::optional<std::string> check() {
    CheckedFields fields(one);
    for (const std::unique_ptr<Step>& step : one.steps.all()) {
      step->fields(fields);
      if (fields.failed())
        return placeOf(*step) + " is made for one number of items";
    }
    one.items.most = std::min(one.items.most, fields.mostItemsOfRun());
    return std::nullopt;
  }

  static std::string placeOf(const Step& step) {
    const program::OperationText& op = *step.operation();
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

std::optional<std::string> openItems(llvm::MutableArrayRef<LoweredItems> all, std::int64_t fewest) {
  std::vector<std::int64_t> items;
  std::vector<std::vector<Comparison>> compared;
  std::vector<std::string>& kernels = all.front().lowered.kernels;
  for (const LoweredItems& each : all) {
    if (each.lowered.kernels.size() != kernels.size())
      return "it becomes other kernels for other numbers of items";
    items.push_back(each.items);
    compared.push_back(each.compared);
  }
  std::optional<std::int64_t> least = whereLess(compared, items);
  std::int64_t most = program::kMostItems;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<std::string> texts;
    for (const LoweredItems& each : all)
      texts.push_back(each.lowered.kernels[i]);
    if (llvm::all_equal(texts))
      continue;
    std::optional<KernelOfItems> open = kernelOfItems(texts, items);
    if (!open)
      return "a kernel depends on the number of items otherwise than by sizes";
    kernels[i] = std::move(open->text);
    most = std::min(most, open->most);
    if (least)
      least = std::max(*least, open->fewest);
  }
  if (!least || *least > std::max(fewest, program::kMostFewest))
    return "its kernels are of so many items that fewer would be others";
  all.front().lowered.program.items = {std::max(fewest, *least), most};
  return Programs(all).open();
}

} // namespace octavo::compiler
