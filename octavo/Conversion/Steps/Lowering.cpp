#include "octavo/Conversion/Steps/Lowering.h"

#include "octavo/Conversion/Kernels/Scalars.h"
#include "octavo/Conversion/Kernels/Views.h"
#include "octavo/Conversion/Steps/Nodes.h"
#include "octavo/Conversion/Steps/Products.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Steps/Control.h"
#include "octavo/Steps/Product.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

namespace octavo::conversion {

namespace {

using steps::Place;
using steps::Sequence;
using steps::Slot;

llvm::Error refusal(mlir::Operation* op, const llvm::Twine& why) {
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + why);
}

/// What lies in memory for an operation: matrices of products, else operands and what regions use
/// from around them.
llvm::SmallVector<mlir::Value> readsOf(mlir::Operation* op) {
  if (auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op))
    if (const auto product = matrixProduct(dot))
      return {product->left.memory, product->right.memory};
  if (auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op))
    if (const auto product = scaledProduct(dot); product && !product->quantize)
      return {product->activations, product->weight};
  llvm::SmallVector<mlir::Value> reads(op->getOperands());
  if (op->getNumRegions() != 0) {
    llvm::SetVector<mlir::Value> captured;
    mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (mlir::Value value : captured) {
      reads.push_back(value);
      // A kernel inside reads through views.
      while (isView(value.getDefiningOp()))
        reads.push_back(value = value.getDefiningOp()->getOperand(0));
    }
  }
  return reads;
}

/// `subtract, exponential, reduce`; what a kernel without members lays out.
std::string memberNames(const Kernel& kernel) {
  std::string text;
  llvm::SmallVector<mlir::Operation*> operations(kernel.members.begin(), kernel.members.end());
  if (operations.empty())
    operations.push_back(kernel.stored.front().getDefiningOp());
  for (mlir::Operation* op : operations)
    text += (text.empty() ? "" : ", ") + op->getName().stripDialect().str();
  return text;
}

class Lowering {
public:
  Lowering(mlir::func::FuncOp function, steps::Evaluate evaluate)
      : function(function), evaluate(evaluate) {}

  llvm::Expected<Program> lower();

private:
  mlir::func::FuncOp function;
  steps::Evaluate evaluate;
  Program program;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation*, int> packed; ///< of quantizations that are packed for products
  int position = 0;
  static constexpr int kAlways = std::numeric_limits<int>::max();

  Place newPlace(mlir::Type type);
  llvm::Expected<Place> placeOf(mlir::Value value);
  /// The place of a value that the next step reads or writes.
  llvm::Expected<Place> used(mlir::Value value);
  llvm::Expected<std::vector<Place>> used(mlir::ValueRange values);
  llvm::Expected<Slot> usedSlot(mlir::Value value);
  SlotUse& slot(const Place& place) {
    return program.slots[static_cast<std::size_t>(place.number)];
  }
  void keep(const Place& place) {
    if (place.memory)
      slot(place).first = 0, slot(place).last = kAlways;
  }
  void add(Sequence& sequence, std::unique_ptr<steps::Step> step) {
    sequence.add(std::move(step));
    ++position;
  }

  llvm::Error block(mlir::Block& block, Sequence& sequence);
  llvm::Error kernel(const Node& node, Sequence& sequence);
  llvm::Error operation(mlir::Operation* op, Sequence& sequence);
  llvm::Error loop(stablehlo::WhileOp op, Sequence& sequence);
  llvm::Error branch(mlir::Operation* op, Sequence& sequence);
  llvm::Error update(stablehlo::DynamicUpdateSliceOp op, Sequence& sequence);
  llvm::Error product(stablehlo::DotGeneralOp op, Sequence& sequence);
  llvm::Error quantize(ir::QuantizeOp op, Sequence& sequence);
  llvm::Error product(ir::DotGeneralOp op, Sequence& sequence);
  /// `reason` says why there is no code.
  llvm::Error interpret(mlir::Operation* op, Sequence& sequence, std::string reason);
  llvm::Error results();
  void layOutArena();
};

Place Lowering::newPlace(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape())
    if (auto element = elementType(tensor.getElementType())) {
      Place place{static_cast<int>(program.slots.size()),
                  Place::InMemory{*element, tensor.getShape().vec()}};
      program.slots.push_back(
          {.bytes = steps::bytesOf(place), .first = position, .last = position});
      return place;
    }
  return {program.valueCount++};
}

llvm::Expected<Place> Lowering::placeOf(mlir::Value value) {
  value = inMemory(value);
  if (const auto found = places.find(value); found != places.end())
    return found->second;
  Place place = newPlace(value.getType());
  mlir::Operation* op = value.getDefiningOp();
  if (op != nullptr && mlir::matchPattern(op, mlir::m_Constant())) {
    if (!place.memory)
      return refusal(op, "constants of this type are not compiled");
    llvm::Expected<std::vector<execution::Value>> constant = evaluate(op, {}, {});
    if (!constant)
      return constant.takeError();
    slot(place).kind = SlotUse::Kind::Constant;
    slot(place).index = static_cast<int>(program.constants.size());
    program.constants.push_back(std::move(constant->front()));
  }
  places[value] = place;
  return place;
}

llvm::Expected<Place> Lowering::used(mlir::Value value) {
  llvm::Expected<Place> place = placeOf(value);
  if (place && place->memory)
    slot(*place).last = std::max(slot(*place).last, position);
  // The slot is the same; the shape is the reshaped one.
  if (place && place->memory)
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType()))
      place->memory->shape = tensor.getShape().vec();
  return place;
}

llvm::Expected<std::vector<Place>> Lowering::used(mlir::ValueRange values) {
  std::vector<Place> list;
  for (mlir::Value value : values) {
    llvm::Expected<Place> place = used(value);
    if (!place)
      return place.takeError();
    list.push_back(std::move(*place));
  }
  return list;
}

llvm::Expected<Slot> Lowering::usedSlot(mlir::Value value) {
  llvm::Expected<Place> place = used(value);
  if (!place)
    return place.takeError();
  return Slot{place->number};
}

llvm::Error Lowering::kernel(const Node& node, Sequence& sequence) {
  if (node.kernel.rows == 0)
    return llvm::Error::success();
  KernelCode code = emitKernel(node.kernel);
  std::vector<Slot> slots;
  for (mlir::Value argument : code.arguments) {
    llvm::Expected<Slot> place = usedSlot(argument);
    if (!place)
      return place.takeError();
    slots.push_back(*place);
  }
  mlir::Operation* last = node.kernel.stored.back().getDefiningOp();
  KernelTable& table = program.kernels;
  const auto [entry, isNew] = table.numbers.try_emplace(code.text, table.texts.size());
  if (isNew) {
    table.texts.push_back(std::move(code.text));
    table.functions.push_back(nullptr);
  }
  constexpr std::int64_t kElementsWorthAThread = 32768;
  const std::int64_t width = std::max<std::int64_t>(
      1, node.kernel.columns * static_cast<std::int64_t>(1 + node.kernel.members.size() / 4));
  double bytes = 0;
  for (mlir::Value argument : code.arguments)
    bytes += static_cast<double>(sizeOf(argument) * containerBytes(elementOf(argument)));
  add(sequence,
      std::make_unique<steps::KernelStep>(
          last, table.functions[entry->second], std::move(slots), node.kernel.rows,
          std::max<std::int64_t>(1, kElementsWorthAThread / width),
          steps::StepFacts{.kind = steps::StepFacts::Kind::Kernel,
                           .detail = memberNames(node.kernel),
                           .operations = static_cast<std::int64_t>(node.kernel.members.size()),
                           .kernel = static_cast<std::int64_t>(entry->second),
                           .bytes = bytes}));
  return llvm::Error::success();
}

llvm::Error Lowering::update(stablehlo::DynamicUpdateSliceOp op, Sequence& sequence) {
  llvm::Expected<Place> operand = used(op.getOperand());
  if (!operand)
    return operand.takeError();
  if (!operand->memory)
    return interpret(op, sequence, "its elements have no place in memory");
  llvm::Expected<Slot> update = usedSlot(op.getUpdate());
  if (!update)
    return update.takeError();
  std::vector<steps::UpdateStep::Start> starts;
  for (mlir::Value start : op.getStartIndices()) {
    llvm::Expected<Slot> place = usedSlot(start);
    if (!place)
      return place.takeError();
    const mlir::Type element = mlir::getElementTypeOrSelf(start.getType());
    starts.push_back(
        {*place, static_cast<int>(containerBytes(element)), element.isUnsignedInteger()});
  }
  // Nobody else reads the operand, and its memory is the program's own.
  mlir::Value source = inMemory(op.getOperand());
  const bool isOnlyUse = source == op.getOperand() && source.hasOneUse() &&
                         source.getParentBlock() == op->getBlock() &&
                         slot(*operand).kind == SlotUse::Kind::Arena;
  if (isOnlyUse)
    places[op.getResult()] = *operand;
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  add(sequence, std::make_unique<steps::UpdateStep>(
                    op, Slot{operand->number}, *update, *result, std::move(starts),
                    shapeOf(op.getOperand()).vec(), shapeOf(op.getUpdate()).vec(),
                    operand->memory->type.bytes()));
  return llvm::Error::success();
}

llvm::Error Lowering::product(stablehlo::DotGeneralOp op, Sequence& sequence) {
  const std::optional<MatrixProduct> matrices = matrixProduct(op);
  if (!matrices || sizeOf(op.getResult()) == 0)
    return interpret(op, sequence, matrices ? "it has no elements" : whyNoMatrixProduct(op));
  llvm::Expected<Slot> left = usedSlot(matrices->left.memory);
  if (!left)
    return left.takeError();
  llvm::Expected<Slot> right = usedSlot(matrices->right.memory);
  if (!right)
    return right.takeError();
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  std::vector<kernels::BatchOffsets> batch;
  for (std::size_t b = 0; b < matrices->left.batch.size(); ++b)
    batch.push_back({matrices->left.batch[b], matrices->right.batch[b],
                     static_cast<std::ptrdiff_t>(b) * matrices->rows * matrices->columns});
  const auto side = [](Slot slot, const MatrixLayout& layout) {
    return steps::MatrixProductStep::Side{slot, layout.offset, layout.stride, layout.depthStride};
  };
  add(sequence, std::make_unique<steps::MatrixProductStep>(
                    op, side(*left, matrices->left), side(*right, matrices->right), *result,
                    matrices->rows, matrices->depth, matrices->columns, std::move(batch)));
  return llvm::Error::success();
}

llvm::Error Lowering::quantize(ir::QuantizeOp op, Sequence& sequence) {
  if (!isPackedForProducts(op))
    return interpret(op, sequence,
                     "it is used by more than the left sides of products of one form");
  if (op.getResult().use_empty())
    return llvm::Error::success();
  const auto product = *scaledProduct(mlir::cast<ir::DotGeneralOp>(*op.getResult().user_begin()));
  llvm::Expected<Slot> from = usedSlot(op.getOperand());
  if (!from)
    return from.takeError();
  packed[op] = program.packedCount++;
  add(sequence,
      std::make_unique<steps::PackStep>(
          op, product.plan,
          op.getQuantization().getOptions(mlir::cast<ir::ScaledType>(op.getResult().getType()),
                                          format::element("f32")),
          *from, static_cast<std::size_t>(sizeOf(op.getOperand())), packed.lookup(op)));
  return llvm::Error::success();
}

llvm::Error Lowering::product(ir::DotGeneralOp op, Sequence& sequence) {
  std::string why = "its left side is used by more than products of one form";
  const std::optional<ScaledProduct> scaled = scaledProduct(op, &why);
  if (!scaled || (scaled->quantize && !packed.contains(scaled->quantize)))
    return interpret(op, sequence, std::move(why));
  llvm::Expected<Place> weight = used(scaled->weight);
  if (!weight)
    return weight.takeError();
  int left = 0;
  if (scaled->quantize) {
    left = packed.lookup(scaled->quantize);
  } else {
    llvm::Expected<Slot> from = usedSlot(scaled->activations);
    if (!from)
      return from.takeError();
    left = program.packedCount++;
    add(sequence, std::make_unique<steps::PackStep>(
                      op, scaled->plan, std::nullopt, *from,
                      static_cast<std::size_t>(sizeOf(scaled->activations)), left));
  }
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  add(sequence, std::make_unique<steps::ScaledProductStep>(op, scaled->plan, left, weight->number,
                                                           *result, scaled->rows, scaled->columns));
  return llvm::Error::success();
}

llvm::Error Lowering::interpret(mlir::Operation* op, Sequence& sequence, std::string reason) {
  if (llvm::isa<mlir::func::CallOp>(op))
    return refusal(op, "calls that cannot be inlined are not compiled");
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
  add(sequence, std::make_unique<steps::InterpretedStep>(op, evaluate, std::move(*operands),
                                                         std::move(*found), std::move(reason)));
  return llvm::Error::success();
}

llvm::Error Lowering::loop(stablehlo::WhileOp op, Sequence& sequence) {
  mlir::Block& condition = op->getRegion(0).front();
  mlir::Block& body = op->getRegion(1).front();
  std::vector<steps::WhileStep::Carried> carried;
  const int begin = position;
  const std::size_t slotsBefore = program.slots.size();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    llvm::Expected<Place> given = used(op->getOperand(i));
    if (!given)
      return given.takeError();
    Place argument = newPlace(op->getResult(i).getType());
    keep(argument);
    // One by one: a reference to one's place is gone when the next makes the map grow.
    for (mlir::Value each : {mlir::Value(condition.getArgument(i)),
                             mlir::Value(body.getArgument(i)), mlir::Value(op->getResult(i))})
      places[each] = argument;
    carried.push_back({std::move(*given), argument, {}});
  }
  ++position;
  Sequence conditionSteps, bodySteps;
  if (llvm::Error error = block(condition, conditionSteps))
    return error;
  llvm::Expected<Slot> predicate = usedSlot(condition.getTerminator()->getOperand(0));
  if (!predicate)
    return predicate.takeError();
  if (llvm::Error error = block(body, bodySteps))
    return error;
  llvm::DenseSet<int> taken[2];
  for (const auto& each : carried)
    taken[each.argument.memory ? 0 : 1].insert(each.argument.number);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    mlir::Value given = body.getTerminator()->getOperand(i);
    llvm::Expected<Place> place = used(given);
    if (!place)
      return place.takeError();
    const bool isMemory = place->memory.has_value();
    const Place& argument = carried[i].argument;
    const bool staysInPlace = place->number == argument.number;
    mlir::Operation* maker = inMemory(given).getDefiningOp();
    const bool isOwn = maker != nullptr && maker->getBlock() == &body &&
                       (!isMemory || slot(*place).kind == SlotUse::Kind::Arena);
    // What comes from elsewhere, or is another's, is copied to a place of its own.
    if (!staysInPlace && (!isOwn || !taken[isMemory ? 0 : 1].insert(place->number).second)) {
      Place own = newPlace(argument.memory ? op->getResult(i).getType() : given.getType());
      add(bodySteps, std::make_unique<steps::CopyStep>(op, *place, own));
      place = own;
    }
    if (!staysInPlace)
      keep(*place);
    carried[i].next = *place;
  }
  // What the loop reads from before it, it reads again at each turn.
  for (std::size_t i = 0; i < slotsBefore; ++i)
    if (program.slots[i].last > begin)
      program.slots[i].last = std::max(program.slots[i].last, position);
  add(sequence,
      std::make_unique<steps::WhileStep>(op, std::move(carried), std::move(conditionSteps),
                                         *predicate, std::move(bodySteps)));
  return llvm::Error::success();
}

llvm::Error Lowering::branch(mlir::Operation* op, Sequence& sequence) {
  llvm::Expected<Slot> index = usedSlot(op->getOperand(0));
  if (!index)
    return index.takeError();
  std::vector<steps::BranchStep::Branch> branches;
  for (mlir::Region& region : op->getRegions()) {
    branches.emplace_back();
    if (llvm::Error error = block(region.front(), branches.back().steps))
      return error;
    llvm::Expected<std::vector<Place>> given = used(region.front().getTerminator()->getOperands());
    if (!given)
      return given.takeError();
    branches.back().results = std::move(*given);
  }
  llvm::Expected<std::vector<Place>> found = used(op->getResults());
  if (!found)
    return found.takeError();
  // The branches' results are read when the step ends.
  for (const auto& each : branches)
    for (const Place& place : each.results)
      if (place.memory)
        slot(place).last = std::max(slot(place).last, position);
  add(sequence, std::make_unique<steps::BranchStep>(op, *index, llvm::isa<stablehlo::IfOp>(op),
                                                    std::move(branches), std::move(*found)));
  return llvm::Error::success();
}

llvm::Error Lowering::operation(mlir::Operation* op, Sequence& sequence) {
  return llvm::TypeSwitch<mlir::Operation*, llvm::Error>(op)
      .Case([&](stablehlo::WhileOp loopOp) { return loop(loopOp, sequence); })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>(
          [&](auto branchOp) { return branch(branchOp, sequence); })
      .Case([&](stablehlo::DotGeneralOp dot) { return product(dot, sequence); })
      .Case([&](ir::QuantizeOp quantization) { return quantize(quantization, sequence); })
      .Case([&](ir::DotGeneralOp dot) { return product(dot, sequence); })
      .Case([&](stablehlo::DynamicUpdateSliceOp updateOp) { return update(updateOp, sequence); })
      .Default([&](mlir::Operation*) { return interpret(op, sequence, whyNoCode(op)); });
}

llvm::Error Lowering::block(mlir::Block& block, Sequence& sequence) {
  for (auto dot : llvm::make_early_inc_range(block.getOps<stablehlo::DotGeneralOp>()))
    layOutOperands(dot);
  program.operations += llvm::range_size(block.without_terminator());
  llvm::Expected<std::vector<Node>> nodes = nodesOf(block, readsOf);
  if (!nodes)
    return nodes.takeError();
  for (const Node& node : *nodes)
    if (llvm::Error error = node.isKernel() ? kernel(node, sequence) : operation(node.op, sequence))
      return error;
  return llvm::Error::success();
}

llvm::Error Lowering::results() {
  mlir::Operation* end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    llvm::Expected<Place> place = used(end->getOperand(i));
    if (!place)
      return place.takeError();
    // Slots that loops swap are nobody's result.
    const bool canBeResult =
        place->memory && slot(*place).kind == SlotUse::Kind::Arena && slot(*place).last != kAlways;
    if (place->memory && !canBeResult) {
      Place own = newPlace(end->getOperand(i).getType());
      add(program.steps, std::make_unique<steps::CopyStep>(end, *place, own));
      place = own;
    }
    if (place->memory) {
      slot(*place).kind = SlotUse::Kind::Result;
      slot(*place).index = static_cast<int>(i);
    }
    program.results.push_back(std::move(*place));
  }
  return llvm::Error::success();
}

/// Slots whose times do not overlap share memory: the largest first, each at the lowest offset that
/// is free for as long as it is in use.
void Lowering::layOutArena() {
  std::vector<SlotUse*> order;
  for (SlotUse& each : program.slots)
    if (each.kind == SlotUse::Kind::Arena)
      order.push_back(&each);
  llvm::sort(order, [](const SlotUse* a, const SlotUse* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  std::vector<SlotUse*> placed;
  for (SlotUse* each : order) {
    const std::size_t size = (each->bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
    std::size_t offset = 0;
    for (const SlotUse* other : placed) { // sorted by offset
      const bool overlaps = other->first <= each->last && each->first <= other->last;
      if (!overlaps || other->offset + other->bytes <= offset)
        continue;
      if (other->offset >= offset + size)
        break;
      offset =
          (other->offset + other->bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
    }
    each->offset = offset;
    program.arenaBytes = std::max(program.arenaBytes, offset + size);
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &SlotUse::offset), each);
  }
}

llvm::Expected<Program> Lowering::lower() {
  if (!llvm::hasSingleElement(function.getBody()))
    return refusal(function, "functions of several blocks are not compiled");
  mlir::Block& body = function.getBody().front();
  for (mlir::BlockArgument argument : body.getArguments()) {
    Place place = newPlace(argument.getType());
    if (place.memory) {
      slot(place).kind = SlotUse::Kind::Argument;
      slot(place).index = static_cast<int>(argument.getArgNumber());
    }
    places[argument] = place;
    program.arguments.push_back(std::move(place));
  }
  if (llvm::Error error = block(body, program.steps))
    return std::move(error);
  if (llvm::Error error = results())
    return std::move(error);
  layOutArena();
  return std::move(program);
}

} // namespace

llvm::Expected<Program> lower(mlir::func::FuncOp function, steps::Evaluate evaluate) {
  return Lowering(function, evaluate).lower();
}

} // namespace octavo::conversion
