#include "octavo/Compiler/Plan/Lowering.h"

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Plan/FunctionLowering.h"
#include "octavo/Compiler/Plan/Reductions.h"
#include "octavo/Compiler/Plan/ScaledSides.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/TextOfOperation.h"
#include "octavo/Program/Steps/Control.h"
#include "octavo/Program/Steps/Interpreted.h"
#include "octavo/Program/Steps/StepAccesses.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace octavo::compiler {

llvm::Error refusal(mlir::Operation* op, const llvm::Twine& why) {
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + why);
}

std::vector<program::BatchExtent> itemNumbers(llvm::ArrayRef<std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

static bool areInUseAtOnce(const SlotUse& a, const SlotUse& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The distance from a slot to the next: its bytes and guard, aligned.
static std::int64_t room(std::int64_t bytes, std::size_t guard = 0) {
  return static_cast<std::int64_t>(
      llvm::alignTo(static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes)) + guard,
                    program::kSlotAlignment));
}

/// Slots by offset, in blocks. A block of which no slot is in use at the same time is skipped as a
/// whole: slots of one size that a program uses one after the other lie beside each other.
class PlacedSlots {
public:
  explicit PlacedSlots(std::int64_t program::BatchExtent::* part) : part(part) {}

  /// Calls f with each slot that is in use at the same time as `slot`, by offset, until f returns
  /// false.
  template <typename F> void forThoseInUse(const SlotUse& slot, F f) const {
    for (const std::unique_ptr<Block>& block : blocks) {
      if (block->first > slot.last || block->last < slot.first)
        continue;
      for (const SlotUse* other : block->slots)
        if (areInUseAtOnce(*other, slot) && !f(*other))
          return;
    }
  }
  void insert(SlotUse* slot) {
    const std::int64_t offset = slot->offset.*part;
    auto next = llvm::upper_bound(blocks, offset, [&](std::int64_t begin, const auto& block) {
      return begin < block->slots.front()->offset.*part;
    });
    if (next == blocks.begin())
      next = blocks.insert(next, std::make_unique<Block>());
    else
      --next;
    Block& block = **next;
    block.slots.insert(llvm::upper_bound(block.slots, offset,
                                         [&](std::int64_t begin, const SlotUse* other) {
                                           return begin < other->offset.*part;
                                         }),
                       slot);
    block.count(*slot);
    if (block.slots.size() < kMost)
      return;
    auto rest = std::make_unique<Block>();
    rest->slots.assign(block.slots.begin() + kMost / 2, block.slots.end());
    block.slots.resize(kMost / 2);
    for (Block* half : {&block, rest.get()}) {
      half->first = std::numeric_limits<int>::max(), half->last = 0;
      for (const SlotUse* each : half->slots)
        half->count(*each);
    }
    blocks.insert(std::next(next), std::move(rest));
  }

private:
  static constexpr std::ptrdiff_t kMost = 64;
  struct Block {
    std::vector<SlotUse*> slots;
    int first = std::numeric_limits<int>::max(), last = 0; ///< while any of its slots is in use
    void count(const SlotUse& slot) {
      first = std::min(first, slot.first), last = std::max(last, slot.last);
    }
  };
  std::int64_t program::BatchExtent::* part;
  std::vector<std::unique_ptr<Block>> blocks;
};

/// Lays out one coefficient (`part`) of the slots' sizes: fixed or per batch size. Returns the end.
static std::int64_t layOut(llvm::MutableArrayRef<SlotUse*> slots,
                           std::int64_t program::BatchExtent::* part, std::size_t guard) {
  llvm::sort(slots, [&](const SlotUse* a, const SlotUse* b) {
    return a->bytes.*part != b->bytes.*part ? a->bytes.*part > b->bytes.*part : a < b;
  });
  std::int64_t all = 0;
  PlacedSlots placed(part);
  for (SlotUse* each : slots) {
    const std::int64_t size = room(each->bytes.*part, guard);
    std::int64_t offset = 0;
    placed.forThoseInUse(*each, [&](const SlotUse& other) {
      const std::int64_t end = other.offset.*part + room(other.bytes.*part, guard);
      if (end <= offset)
        return true;
      if (other.offset.*part >= offset + size)
        return false;
      offset = end;
      return true;
    });
    each->offset.*part = offset;
    all = std::max(all, offset + size);
    placed.insert(each);
  }
  return all;
}

program::BatchExtent layOut(llvm::MutableArrayRef<SlotUse*> slots, std::size_t guard) {
  using program::BatchExtent;
  auto* const firstOpen = std::partition(slots.begin(), slots.end(),
                                         [](const SlotUse* slot) { return !slot->bytes.isOpen(); });
  const auto closed = static_cast<std::size_t>(firstOpen - slots.begin());
  const std::int64_t end = layOut(slots.take_front(closed), &BatchExtent::fixed, guard);
  const llvm::MutableArrayRef<SlotUse*> open = slots.drop_front(closed);
  const auto isOfPairs = [](const SlotUse* slot) { return slot->bytes.square != 0; };
  const bool arePairs = llvm::any_of(open, isOfPairs);
  auto const largest = arePairs ? &BatchExtent::square : &BatchExtent::factor;
  BatchExtent all{end};
  all.*largest = layOut(open, largest, guard);
  // The other coefficients follow the order of the largest one: a slot before another by that one
  // lies before it by each, after all slots of fixed size. Slots without a square come before slots
  // with it.
  llvm::stable_sort(open, [&](const SlotUse* a, const SlotUse* b) {
    return std::pair(a->offset.*largest, a->bytes.*largest != 0) <
           std::pair(b->offset.*largest, b->bytes.*largest != 0);
  });
  const auto follow = [&](std::int64_t BatchExtent::* part, std::int64_t begin) {
    for (const auto [i, each] : llvm::enumerate(open)) {
      each->offset.*part = begin;
      for (const SlotUse* other : open.take_front(i))
        if (areInUseAtOnce(*other, *each))
          each->offset.*part =
              std::max(each->offset.*part, other->offset.*part + room(other->bytes.*part));
      all.*part = std::max(all.*part, each->offset.*part + room(each->bytes.*part));
    }
  };
  follow(&BatchExtent::fixed, end);
  if (arePairs)
    follow(&BatchExtent::factor, 0);
  return all;
}

/// For example `subtract, exponential, reduce`; for a kernel without members, the view that it
/// copies.
static std::string memberNames(const Kernel& kernel) {
  std::string text;
  llvm::SmallVector<mlir::Operation*> operations(kernel.members.begin(), kernel.members.end());
  if (operations.empty())
    operations.push_back(kernel.stored.front().getDefiningOp());
  for (mlir::Operation* op : operations)
    text += (text.empty() ? "" : ", ") + op->getName().stripDialect().str();
  return text;
}

const program::OperationTextPtr& FunctionLowering::text(mlir::Operation* op) {
  program::OperationTextPtr& known = texts[op];
  if (!known)
    known = std::make_shared<const program::OperationText>(program::textOf(op));
  return known;
}

Place FunctionLowering::newPlace(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape())
    if (auto element = elementType(tensor.getElementType())) {
      Place place{static_cast<int>(program.slots.size()),
                  Place::InMemory{*element, itemNumbers(tensor.getShape())}};
      program.slots.push_back(
          {.bytes = program::bytesOf(place), .first = position, .last = position});
      return place;
    }
  // All tokens are equal.
  if (mlir::isa<stablehlo::TokenType>(type)) {
    if (!token)
      token = program.valueCount++;
    return {*token};
  }
  return {program.valueCount++};
}

llvm::Expected<Place> FunctionLowering::placeOf(mlir::Value value) {
  value = inMemory(value);
  if (const auto found = places.find(value); found != places.end())
    return found->second;
  Place place = newPlace(value.getType());
  mlir::Operation* op = value.getDefiningOp();
  if (op != nullptr && mlir::matchPattern(op, mlir::m_Constant())) {
    if (!place.memory)
      return refusal(op, "constants of this type are not compiled");
    llvm::Expected<std::vector<program::Value>> constant = evaluate(op, {}, {});
    if (!constant)
      return constant.takeError();
    slot(place).kind = SlotUse::Kind::Constant;
    slot(place).index = static_cast<int>(program.constants.size());
    program.constants.push_back(std::move(constant->front()));
  }
  places[value] = place;
  return place;
}

llvm::Expected<Place> FunctionLowering::used(mlir::Value value) {
  llvm::Expected<Place> place = placeOf(value);
  if (place && place->memory) {
    SlotUse& use = slot(*place);
    const int now = use.kind == SlotUse::Kind::Range ? link : position;
    use.first = std::min(use.first, now);
    use.last = std::max(use.last, now);
    ++use.uses;
    usedSlotNumbers.push_back(place->number);
  }
  // A reshape has the slot of its operand, and a shape of its own.
  if (place && place->memory)
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType()))
      place->memory->shape = itemNumbers(tensor.getShape());
  return place;
}

llvm::Expected<std::vector<Place>> FunctionLowering::used(mlir::ValueRange values) {
  std::vector<Place> list;
  for (mlir::Value value : values) {
    llvm::Expected<Place> place = used(value);
    if (!place)
      return place.takeError();
    list.push_back(std::move(*place));
  }
  return list;
}

llvm::Expected<Slot> FunctionLowering::usedSlot(mlir::Value value) {
  llvm::Expected<Place> place = used(value);
  if (!place)
    return place.takeError();
  return Slot{place->number};
}

llvm::Expected<std::vector<Slot>> FunctionLowering::usedSlots(mlir::ValueRange values) {
  llvm::Expected<std::vector<Place>> found = used(values);
  if (!found)
    return found.takeError();
  std::vector<Slot> slots;
  for (const Place& place : *found)
    slots.push_back({place.number});
  return slots;
}

/// The index of a kernel's code; kernels with the same text share it.
std::size_t FunctionLowering::numberOf(const KernelCode& code) {
  const auto [entry, isNew] = kernelNumbers.try_emplace(code.text, kernels.size());
  if (isNew) {
    kernels.push_back(code.text);
    program.functions.push_back(nullptr);
  }
  return entry->second;
}

/// Whether `op`, which reads `value`, can write its result over it: no other operation reads the
/// value or shares its place, and the memory belongs to the program.
bool FunctionLowering::canBeOverwritten(mlir::Value value, mlir::Operation* op,
                                        const Place& place) {
  return inMemory(value) == value && value.hasOneUse() && !sharing.contains(value) &&
         value.getParentBlock() == op->getBlock() && place.memory &&
         (slot(place).kind == SlotUse::Kind::Arena || slot(place).kind == SlotUse::Kind::Donated);
}

/// Whether a kernel writes an argument of its code.
static bool isStored(const Kernel& kernel, mlir::Value argument) {
  return llvm::any_of(kernel.stored,
                      [&](mlir::Value stored) { return inMemory(stored) == inMemory(argument); });
}

llvm::Expected<std::unique_ptr<program::KernelStep>> FunctionLowering::kernel(const Node& node) {
  llvm::Expected<std::vector<Slot>> slots = usedSlots(node.code.arguments);
  if (!slots)
    return slots.takeError();
  mlir::Operation* last = node.kernel.stored.back().getDefiningOp();
  const std::size_t number = numberOf(node.code);
  const std::int64_t width = std::max<std::int64_t>(
      1, node.kernel.columns * static_cast<std::int64_t>(1 + node.kernel.members.size() / 4));
  double bytes = 0;
  Overwriting over;
  for (mlir::Value argument : node.code.arguments) {
    bytes += static_cast<double>(sizeOf(argument) * containerBytes(elementOf(argument)));
    if (const auto found = donated.find(argument); found != donated.end())
      if (const mlir::Value given = function.getArgument(found->second.argument);
          !llvm::is_contained(node.kernel.stored, given) &&
          llvm::is_contained(node.code.arguments, given))
        over[argument] = given;
  }
  std::vector<program::KernelStep::Argument> arguments;
  for (const auto [slot, argument] : llvm::zip(*slots, node.code.arguments))
    arguments.push_back({slot, isStored(node.kernel, argument)});
  auto step = std::make_unique<program::KernelStep>(
      text(last), program.functions[number], std::move(arguments),
      program::BatchExtent{node.kernel.rows}, program::BatchExtent{width},
      program::StepFacts{.kind = program::StepFacts::Kind::Kernel,
                         .detail = memberNames(node.kernel),
                         .operations = static_cast<std::int64_t>(node.kernel.members.size()),
                         .kernel = static_cast<std::int64_t>(number),
                         .bytes = bytes});
  if (!over.empty())
    overwriters.push_back({step.get(), node.kernel, std::move(over), position});
  return step;
}

llvm::Error FunctionLowering::interpret(mlir::Operation* op, Sequence& sequence,
                                        std::string reason) {
  if (op->getNumRegions() != 0) {
    llvm::SetVector<mlir::Value> captured;
    mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
    if (!captured.empty())
      return refusal(op, "its regions use values from around it");
  }
  llvm::Expected<std::vector<Place>> operands = used(op->getOperands());
  if (!operands)
    return operands.takeError();
  llvm::Expected<std::vector<Place>> found = used(op->getResults());
  if (!found)
    return found.takeError();
  program::Evaluation evaluation = [op, evaluate = evaluate](std::vector<program::Value> values,
                                                             const program::RunContext& host)
      -> tl::expected<std::vector<program::Value>, std::string> {
    llvm::Expected<std::vector<program::Value>> given = evaluate(op, std::move(values), host);
    if (!given)
      return tl::make_unexpected(llvm::toString(given.takeError()));
    return std::move(*given);
  };
  add(sequence, std::make_unique<program::InterpretedStep>(text(op), std::move(evaluation),
                                                           std::move(*operands), std::move(*found),
                                                           std::move(reason)));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::operation(mlir::Operation* op, Sequence& sequence) {
  return llvm::TypeSwitch<mlir::Operation*, llvm::Error>(op)
      .Case<stablehlo::CreateTokenOp, stablehlo::AfterAllOp>(
          [](auto) { return llvm::Error::success(); })
      .Case([&](stablehlo::WhileOp loopOp) { return loop(loopOp, sequence); })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>(
          [&](auto branchOp) { return branch(branchOp, sequence); })
      .Case([&](mlir::func::CallOp callOp) { return call(callOp, sequence); })
      .Case([&](stablehlo::SortOp sortOp) { return sort(sortOp, sequence); })
      .Case([&](stablehlo::RngBitGeneratorOp random) { return randomBits(random, sequence); })
      .Case([&](stablehlo::CholeskyOp factored) { return cholesky(factored, sequence); })
      .Case([&](stablehlo::TriangularSolveOp solved) { return triangularSolve(solved, sequence); })
      .Case([&](stablehlo::FftOp transformed) { return fft(transformed, sequence); })
      .Case([&](stablehlo::ReduceWindowOp window) { return running(window, sequence); })
      .Case<stablehlo::ScatterOp, stablehlo::SelectAndScatterOp>(
          [&](auto scatterOp) { return scatter(scatterOp, sequence); })
      .Case([&](stablehlo::DynamicUpdateSliceOp updateOp) { return update(updateOp, sequence); })
      .Case([&](ir::QuantizeOp quantizeOp) { return quantize(quantizeOp, sequence); })
      .Case([&](ir::PackOp packOp) { return fromParts(packOp, sequence); })
      .Case([&](ir::DequantizeOp opposite) { return dequantize(opposite, sequence); })
      .Case([&](ir::UnpackOp unpackOp) { return toParts(unpackOp, sequence); })
      .Case([&](ir::DotGeneralOp dot) { return stored(dot, sequence); })
      .Default([&](mlir::Operation*) { return interpret(op, sequence, whyNoCode(op)); });
}

llvm::Error FunctionLowering::block(mlir::Block& block, Sequence& sequence) {
  for (auto convolution : llvm::make_early_inc_range(block.getOps<stablehlo::ConvolutionOp>()))
    layOutConvolution(convolution);
  for (auto transpose : llvm::make_early_inc_range(block.getOps<stablehlo::TransposeOp>()))
    turnProduct(transpose);
  for (auto dot : llvm::make_early_inc_range(block.getOps<stablehlo::DotGeneralOp>()))
    layOutOperands(dot);
  for (auto dot : llvm::make_early_inc_range(block.getOps<chlo::RaggedDotOp>()))
    layOutOperands(dot);
  for (auto dot : llvm::make_early_inc_range(block.getOps<ir::DotGeneralOp>()))
    takeApart(dot);
  layOutSides(block);
  for (auto pack : block.getOps<ir::PackOp>())
    layOutParts(pack);
  takeCaptured(block);
  reduceByRows(block);
  widen(block);
  program.operations += llvm::range_size(block.without_terminator());
  llvm::Expected<std::vector<Chain>> chains = chainsOf(block);
  if (!chains)
    return chains.takeError();
  overwriteCarried(*chains);
  for (const Chain& each : *chains)
    if (llvm::Error error = chain(each, sequence))
      return error;
  return llvm::Error::success();
}

llvm::Error FunctionLowering::results() {
  mlir::Operation* end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    llvm::Expected<Place> place = used(end->getOperand(i));
    if (!place)
      return place.takeError();
    if (place->memory && slot(*place).kind == SlotUse::Kind::Donated &&
        slot(*place).result == static_cast<int>(i)) {
      program.results.push_back(std::move(*place));
      continue;
    }
    const bool canBeResult = !program.guards && place->memory &&
                             slot(*place).kind == SlotUse::Kind::Arena &&
                             !swapped.contains(place->number);
    if (place->memory && !canBeResult) {
      Place own = newPlace(end->getOperand(i).getType());
      add(program.steps, std::make_unique<program::CopyStep>(text(end), *place, own));
      place = own;
    }
    if (place->memory) {
      SlotUse& use = slot(*place);
      use.kind = SlotUse::Kind::Result;
      use.index = static_cast<int>(i);
      if (const auto found = kept.find(place->number); found != kept.end())
        use.first = found->second;
    }
    program.results.push_back(std::move(*place));
  }
  return llvm::Error::success();
}

/// Determines which donated arguments are dead when their results are written. Emits code for
/// kernels that read such an argument while they write the result.
void FunctionLowering::overwriteDonated() {
  const auto place = [](const std::vector<Place>& places, unsigned i) { return places[i].number; };
  for (Overwriter& each : overwriters) {
    each.over.remove_if([&](const auto& pair) {
      const UpdatedArgument& given = donated.lookup(pair.first);
      const SlotUse& read = slot(Slot{place(program.arguments, given.argument)});
      const SlotUse& written = slot(Slot{place(program.results, given.result)});
      return read.kind != SlotUse::Kind::Argument || written.kind != SlotUse::Kind::Result ||
             written.index != static_cast<int>(given.result) || read.last != each.position ||
             written.first != each.position;
    });
    const std::optional<KernelCode> code = emitKernel(each.kernel, each.over);
    if (!code)
      continue;
    std::vector<program::KernelStep::Argument> arguments;
    for (mlir::Value argument : code->arguments)
      arguments.push_back(
          {Slot{places.lookup(inMemory(argument)).number},
           isStored(each.kernel, argument) || llvm::any_of(each.over, [&](const auto& pair) {
             return inMemory(pair.second) == inMemory(argument);
           })});
    each.step->addInPlace(program.functions[numberOf(*code)], std::move(arguments));
    for (const auto& [stored, argument] : each.over) {
      const UpdatedArgument& given = donated.lookup(stored);
      program.donations.push_back({given.argument, given.result, true});
    }
  }
  for (const auto& [value, given] : donated) {
    const Place &from = program.arguments[given.argument], &to = program.results[given.result];
    if (!from.memory || !to.memory)
      continue;
    const SlotUse &read = slot(from), &written = slot(to);
    // A loop that carries the argument in the memory of the result begins with a copy to there.
    const auto copy = copies.find(to.number);
    const bool isItself = copy != copies.end() && copy->second == from.number;
    if (read.kind == SlotUse::Kind::Argument && written.kind == SlotUse::Kind::Result &&
        written.index == static_cast<int>(given.result) &&
        read.last < written.first + (isItself ? 1 : 0))
      program.donations.push_back({given.argument, given.result, false});
  }
}

void FunctionLowering::layOutArena() {
  std::vector<SlotUse> frames = layOutCalled();
  std::vector<SlotUse*> uses;
  for (SlotUse& each : llvm::drop_begin(program.slots, calledSlots))
    if (each.kind == SlotUse::Kind::Arena)
      uses.push_back(&each);
  for (SlotUse& each : frames)
    uses.push_back(&each);
  program.arenaBytes = layOut(uses, program.guards ? program::kGuardBytes : 0);
  placeCalled(frames);
  if (!program.guards)
    return;
  std::vector<program::Guards::Piece> pieces;
  for (const SlotUse* each : uses)
    pieces.push_back({Slot{static_cast<int>(each - program.slots.data())},
                      static_cast<std::size_t>(each->bytes.fixed), each->first, each->last});
  program.guards->add(std::move(pieces));
}

/// Checks the memory plan against what the steps say that they read and write: each slot must have
/// memory at that time.
llvm::Error FunctionLowering::checkPlan() const {
  const auto accesses = program::accessesOf(program);
  const program::Step* wrong = nullptr;
  int wrongSlot = 0;
  const auto isPlanned = [&](int number, int at) {
    const SlotUse& use = program.slots[static_cast<std::size_t>(number)];
    return use.kind != SlotUse::Kind::Arena || static_cast<std::size_t>(number) < calledSlots ||
           (use.first <= at && at <= use.last);
  };
  // `outer` is the position of the step that runs the sequence, which links share.
  const auto check = [&](auto& self, const Sequence& sequence, int outer) -> void {
    for (const std::unique_ptr<program::Step>& step : sequence.all()) {
      const program::StepFacts::Kind kind = step->facts().kind;
      if (kind == program::StepFacts::Kind::Function)
        continue; // it has slots of its own
      const auto known = positions.find(step.get());
      const int at = known == positions.end() ? outer : known->second;
      for (const Sequence* nested : step->nested())
        self(self, *nested, at);
      // Loops and branches read and write before and after the steps that they run, not during
      // them.
      const bool isAtOnce =
          kind != program::StepFacts::Kind::Loop && kind != program::StepFacts::Kind::Branch;
      const auto own = accesses.find(step.get());
      if (!isAtOnce || own == accesses.end())
        continue;
      for (const std::vector<int>* numbers : {&own->second.reads, &own->second.writes})
        for (const int number : *numbers)
          if (!isPlanned(number, at))
            wrong = step.get(), wrongSlot = number;
    }
  };
  check(check, program.steps, 0);
  if (wrong == nullptr)
    return llvm::Error::success();
  return llvm::createStringError(wrong->operation()->location + ": '" + wrong->operation()->name +
                                 "': it uses slot " + std::to_string(wrongSlot) +
                                 " where that has no memory: a mistake in octavo");
}

llvm::Expected<Lowered> FunctionLowering::lower() {
  if (!llvm::hasSingleElement(function.getBody()))
    return refusal(function, "functions of several blocks are not compiled");
  if (llvm::Error error = calledFunctions())
    return std::move(error);
  calledSlots = program.slots.size();
  mlir::Block& body = function.getBody().front();
  for (mlir::BlockArgument argument : body.getArguments()) {
    Place place = newPlace(argument.getType());
    if (place.memory) {
      slot(place).kind = SlotUse::Kind::Argument;
      slot(place).index = static_cast<int>(argument.getArgNumber());
    }
    if (const auto type = mlir::dyn_cast<ir::ScaledType>(argument.getType()))
      program.scaledArguments.push_back({place.number, type.getKind(), type.getShape().vec()});
    places[argument] = place;
    program.arguments.push_back(std::move(place));
  }
  const std::vector<UpdatedArgument> updated = updatedArguments(function);
  donated = donatedResults(function, updated);
  for (const auto& [argument, result] : updated) {
    SlotUse& use = slot(program.arguments[argument]);
    use.kind = SlotUse::Kind::Donated;
    use.result = static_cast<int>(result);
  }
  bringMovement(function);
  if (llvm::Error error = block(body, program.steps))
    return std::move(error);
  if (llvm::Error error = results())
    return std::move(error);
  overwriteDonated();
  layOutArena();
  if (llvm::Error error = checkPlan())
    return std::move(error);
  return Lowered{std::move(program), std::move(kernels)};
}

llvm::Expected<Lowered> lower(mlir::func::FuncOp function, Evaluate evaluate, Guarding guarding) {
  return FunctionLowering(function, evaluate, guarding).lower();
}

} // namespace octavo::compiler
