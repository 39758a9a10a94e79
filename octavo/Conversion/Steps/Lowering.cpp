#include "octavo/Conversion/Steps/Lowering.h"

#include "octavo/Conversion/Kernels/Scalars.h"
#include "octavo/Conversion/Kernels/Scatter.h"
#include "octavo/Conversion/Kernels/Sort.h"
#include "octavo/Conversion/Steps/Chains.h"
#include "octavo/Conversion/Steps/InPlace.h"
#include "octavo/Conversion/Steps/Reductions.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Execution/TextOfOperation.h"
#include "octavo/Steps/Control.h"
#include "octavo/Steps/Interpreted.h"
#include "octavo/Steps/Kernel.h"
#include "octavo/Steps/Product.h"
#include "octavo/Steps/Quantize.h"
#include "octavo/Steps/RandomBits.h"
#include "octavo/Steps/Sort.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

namespace octavo::conversion {

namespace {

using steps::Place;
using steps::Sequence;
using steps::Slot;
using steps::SlotUse;

llvm::Error refusal(mlir::Operation* op, const llvm::Twine& why) {
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + why);
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
  Lowering(mlir::func::FuncOp function, Evaluate evaluate, Guarding guarding)
      : function(function), evaluate(evaluate) {
    if (guarding == Guarding::Slots)
      program.guards = std::make_shared<steps::Guards>();
  }

  llvm::Expected<Lowered> lower();

private:
  mlir::func::FuncOp function;
  Evaluate evaluate;
  steps::Program program;
  std::vector<std::string> kernels;
  llvm::StringMap<std::size_t> kernelNumbers; ///< by their texts
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Value> sharing; ///< values of loops whose place other values have, too
  llvm::DenseMap<mlir::Operation*, int> packed; ///< of quantizations that are packed for products
  llvm::DenseMap<mlir::Operation*, execution::OperationTextPtr> texts;
  DonatedResults donated;
  struct Overwriter { ///< a kernel that may write results over donated arguments
    steps::KernelStep* step;
    Kernel kernel;
    Overwriting over;
    int position;
  };
  std::vector<Overwriter> overwriters;
  int position = 0; ///< of the next step
  int link = 0;     ///< of the next link of a chain
  static constexpr int kAlways = std::numeric_limits<int>::max();

  Place newPlace(mlir::Type type);
  llvm::Expected<Place> placeOf(mlir::Value value);
  /// The place of a value that the next step reads or writes.
  llvm::Expected<Place> used(mlir::Value value);
  llvm::Expected<std::vector<Place>> used(mlir::ValueRange values);
  llvm::Expected<Slot> usedSlot(mlir::Value value);
  SlotUse& slot(Slot number) { return program.slots[static_cast<std::size_t>(number.number)]; }
  SlotUse& slot(const Place& place) { return slot(Slot{place.number}); }
  void keep(const Place& place) {
    if (place.memory)
      slot(place).first = 0, slot(place).last = kAlways;
  }
  const execution::OperationTextPtr& text(mlir::Operation* op);
  void add(Sequence& sequence, std::unique_ptr<steps::Step> step) {
    if (program.guards)
      step = std::make_unique<steps::GuardedStep>(std::move(step), position, program.guards);
    sequence.add(std::move(step));
    ++position;
  }

  llvm::Error block(mlir::Block& block, Sequence& sequence);
  using RowStepPtr = std::unique_ptr<steps::RowStep>;
  using ProductStepPtr = std::unique_ptr<steps::ProductStep>;
  llvm::Error chain(const Chain& chain, Sequence& sequence);
  llvm::Expected<std::vector<RowStepPtr>> rowSteps(const Node& node);
  std::size_t numberOf(const KernelCode& code);
  bool canBeOverwritten(mlir::Value value, mlir::Operation* op, const Place& place);
  llvm::Expected<std::unique_ptr<steps::KernelStep>> kernel(const Node& node);
  llvm::Expected<ProductStepPtr> matrices(mlir::Operation* op, const MatrixProduct& product);
  llvm::Expected<ProductStepPtr> convolution(mlir::Operation* op, const PatchProduct& product);
  llvm::Expected<RowStepPtr> quantization(ir::QuantizeOp op);
  llvm::Expected<steps::ScaledParts> parts(ir::PackOp op);
  llvm::Expected<RowStepPtr> pack(mlir::Operation* op, const ScaledProduct& product, int number);
  llvm::Expected<ProductStepPtr> scaled(mlir::Operation* op, const ScaledProduct& product,
                                        std::vector<RowStepPtr>& steps);
  llvm::Error operation(mlir::Operation* op, Sequence& sequence);
  llvm::Error loop(stablehlo::WhileOp op, Sequence& sequence);
  llvm::Error branch(mlir::Operation* op, Sequence& sequence);
  llvm::Error update(stablehlo::DynamicUpdateSliceOp op, Sequence& sequence);
  llvm::Error scatter(stablehlo::ScatterOp op, Sequence& sequence);
  llvm::Error scatter(stablehlo::SelectAndScatterOp op, Sequence& sequence);
  llvm::Error write(mlir::Operation* op, const WritingCode& written, Sequence& sequence);
  llvm::Error sort(stablehlo::SortOp op, Sequence& sequence);
  llvm::Error randomBits(stablehlo::RngBitGeneratorOp op, Sequence& sequence);
  llvm::Error quantize(ir::QuantizeOp op, Sequence& sequence);
  llvm::Error fromParts(ir::PackOp op, Sequence& sequence);
  llvm::Error stored(ir::DotGeneralOp op, Sequence& sequence);
  /// `reason` says why there is no code.
  llvm::Error interpret(mlir::Operation* op, Sequence& sequence, std::string reason);
  llvm::Error results();
  void overwriteDonated();
  void layOutArena();
};

const execution::OperationTextPtr& Lowering::text(mlir::Operation* op) {
  execution::OperationTextPtr& known = texts[op];
  if (!known)
    known = std::make_shared<const execution::OperationText>(execution::textOf(op));
  return known;
}

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
  if (place && place->memory) {
    SlotUse& use = slot(*place);
    const int now = use.kind == SlotUse::Kind::Range ? link : position;
    use.first = std::min(use.first, now);
    use.last = std::max(use.last, now);
    ++use.uses;
  }
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

/// The number of a kernel's code, which others may have in common with it.
std::size_t Lowering::numberOf(const KernelCode& code) {
  const auto [entry, isNew] = kernelNumbers.try_emplace(code.text, kernels.size());
  if (isNew) {
    kernels.push_back(code.text);
    program.functions.push_back(nullptr);
  }
  return entry->second;
}

/// Whether the result of an operation, which reads the value too, can be written over it: nobody
/// else reads the value or another in its place, and its memory is the program's own.
bool Lowering::canBeOverwritten(mlir::Value value, mlir::Operation* op, const Place& place) {
  return inMemory(value) == value && value.hasOneUse() && !sharing.contains(value) &&
         value.getParentBlock() == op->getBlock() && place.memory &&
         (slot(place).kind == SlotUse::Kind::Arena || slot(place).kind == SlotUse::Kind::Donated);
}

llvm::Expected<std::unique_ptr<steps::KernelStep>> Lowering::kernel(const Node& node) {
  std::vector<Slot> slots;
  for (mlir::Value argument : node.code.arguments) {
    llvm::Expected<Slot> place = usedSlot(argument);
    if (!place)
      return place.takeError();
    slots.push_back(*place);
  }
  mlir::Operation* last = node.kernel.stored.back().getDefiningOp();
  const std::size_t number = numberOf(node.code);
  constexpr std::int64_t kElementsWorthAThread = 32768;
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
  auto step = std::make_unique<steps::KernelStep>(
      text(last), program.functions[number], std::move(slots), node.kernel.rows,
      std::max<std::int64_t>(1, kElementsWorthAThread / width),
      steps::StepFacts{.kind = steps::StepFacts::Kind::Kernel,
                       .detail = memberNames(node.kernel),
                       .operations = static_cast<std::int64_t>(node.kernel.members.size()),
                       .kernel = static_cast<std::int64_t>(number),
                       .bytes = bytes});
  if (!over.empty())
    overwriters.push_back({step.get(), node.kernel, std::move(over), position});
  return step;
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
  if (canBeOverwritten(op.getOperand(), op, *operand))
    places[op.getResult()] = *operand;
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  add(sequence, std::make_unique<steps::UpdateStep>(
                    text(op), Slot{operand->number}, *update, *result, std::move(starts),
                    shapeOf(op.getOperand()).vec(), shapeOf(op.getUpdate()).vec(),
                    operand->memory->type.bytes()));
  return llvm::Error::success();
}

llvm::Error Lowering::write(mlir::Operation* op, const WritingCode& written, Sequence& sequence) {
  std::vector<Slot> slots;
  double bytes = 0;
  for (mlir::Value argument : written.code.arguments) {
    llvm::Expected<Slot> place = usedSlot(argument);
    if (!place)
      return place.takeError();
    slots.push_back(*place);
    bytes += static_cast<double>(sizeOf(argument) * containerBytes(elementOf(argument)));
  }
  if (written.rows == 0 || sizeOf(op->getResult(0)) == 0)
    return llvm::Error::success();
  // Each range goes through all indices: one for each thread, if it is worth one.
  constexpr double kElementsWorthAThread = 32768;
  const std::int64_t grain =
      std::max(1 + static_cast<std::int64_t>(kElementsWorthAThread / (1 + written.costOfRow)),
               static_cast<std::int64_t>(llvm::divideCeil(written.rows, kernels::threadsOf({}))));
  const std::size_t number = numberOf(written.code);
  add(sequence, std::make_unique<steps::KernelStep>(
                    text(op), program.functions[number], std::move(slots), written.rows, grain,
                    steps::StepFacts{.kind = steps::StepFacts::Kind::Kernel,
                                     .detail = op->getName().stripDialect().str(),
                                     .kernel = static_cast<std::int64_t>(number),
                                     .bytes = bytes}));
  return llvm::Error::success();
}

llvm::Error Lowering::scatter(stablehlo::ScatterOp op, Sequence& sequence) {
  if (std::string why = whyNoScatter(op); !why.empty())
    return interpret(op, sequence, std::move(why));
  for (const auto& [i, input] : llvm::enumerate(op.getInputs())) {
    const mlir::Value result = op.getResult(static_cast<unsigned>(i));
    llvm::Expected<Place> from = used(input);
    if (!from)
      return from.takeError();
    if (canBeOverwritten(input, op, *from)) {
      places[result] = *from;
      continue;
    }
    llvm::Expected<Place> to = used(result);
    if (!to)
      return to.takeError();
    add(sequence, std::make_unique<steps::CopyStep>(text(op), *from, *to));
  }
  return write(op, emitScatter(op), sequence);
}

llvm::Error Lowering::scatter(stablehlo::SelectAndScatterOp op, Sequence& sequence) {
  if (std::string why = whyNoScatter(op); !why.empty())
    return interpret(op, sequence, std::move(why));
  return write(op, emitScatter(op), sequence);
}

llvm::Error Lowering::sort(stablehlo::SortOp op, Sequence& sequence) {
  if (std::string why = whyNoSort(op); !why.empty())
    return interpret(op, sequence, std::move(why));
  std::vector<steps::SortStep::Tensor> tensors;
  for (const auto& [input, result] : llvm::zip(op.getInputs(), op.getResults())) {
    llvm::Expected<Place> from = used(input);
    if (!from)
      return from.takeError();
    llvm::Expected<Slot> to = usedSlot(result);
    if (!to)
      return to.takeError();
    tensors.push_back({Slot{from->number}, *to, from->memory->type.bytes()});
  }
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs()[0]);
  const auto given = static_cast<std::int64_t>(op.getDimension());
  const auto axis =
      static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(shape.size()) : given);
  steps::SortStep::Lines lines{1, shape[axis], 1};
  for (const std::int64_t extent : shape.take_front(axis))
    lines.outer *= extent;
  for (const std::int64_t extent : shape.drop_front(axis + 1))
    lines.inner *= extent;
  const auto reads = [&](const KernelCode& code) -> llvm::Expected<std::vector<Slot>> {
    std::vector<Slot> slots;
    for (mlir::Value argument : code.arguments)
      if (argument) {
        llvm::Expected<Slot> slot = usedSlot(argument);
        if (!slot)
          return slot.takeError();
        slots.push_back(*slot);
      }
    return slots;
  };
  const SortCode code = emitSort(op);
  llvm::Expected<std::vector<Slot>> compared = reads(code.comparator);
  if (!compared)
    return compared.takeError();
  const auto function = [&](const KernelCode& of) {
    return &std::as_const(program.functions[numberOf(of)]);
  };
  std::optional<steps::SortStep::Keys> keys;
  if (code.keys) {
    llvm::Expected<std::vector<Slot>> slots = reads(code.keys->code);
    if (!slots)
      return slots.takeError();
    const Slot memory{static_cast<int>(program.slots.size())};
    program.slots.push_back(
        {.bytes = static_cast<std::size_t>(code.keys->count * lines.size() * code.keys->bytes),
         .first = position,
         .last = position});
    keys.emplace(function(code.keys->code), std::move(*slots), memory, code.keys->count,
                 code.keys->bytes);
  }
  add(sequence, std::make_unique<steps::SortStep>(
                    text(op), std::move(tensors), lines,
                    steps::SortStep::Comparator{function(code.comparator), std::move(*compared)},
                    std::move(keys)));
  return llvm::Error::success();
}

llvm::Error Lowering::randomBits(stablehlo::RngBitGeneratorOp op, Sequence& sequence) {
  using Generator = steps::RandomBitsStep::Generator;
  // DEFAULT is PHILOX (I23); the verifier leaves the length of its state open.
  const bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  const std::int64_t words = sizeOf(op.getInitialState());
  if (words != 2 && words != 3)
    return interpret(op, sequence, "its state has neither 2 nor 3 numbers");
  llvm::Expected<Slot> given = usedSlot(op.getInitialState());
  if (!given)
    return given.takeError();
  llvm::Expected<Slot> next = usedSlot(op.getOutputState());
  if (!next)
    return next.takeError();
  llvm::Expected<Place> output = used(op.getOutput());
  if (!output)
    return output.takeError();
  if (!output->memory)
    return refusal(op, "elements of this type have no place in memory");
  const numerics::ElementType& element = output->memory->type;
  add(sequence, std::make_unique<steps::RandomBitsStep>(
                    text(op), isThreefry ? Generator::Threefry : Generator::Philox,
                    steps::RandomBitsStep::State{*given, *next, words},
                    steps::RandomBitsStep::Output{Slot{output->number}, output->memory->shape,
                                                  element.width(), element.bytes()}));
  return llvm::Error::success();
}

/// To a scaled tensor for whoever takes one; what only left sides of products take is packed by
/// them.
llvm::Error Lowering::quantize(ir::QuantizeOp op, Sequence& sequence) {
  const auto element = elementType(mlir::getElementTypeOrSelf(op.getOperand().getType()));
  if (!element || element->format().name != "f32")
    return interpret(op, sequence, "the kernels quantize f32");
  llvm::Expected<Slot> from = usedSlot(op.getOperand());
  if (!from)
    return from.takeError();
  std::optional<Slot> randomBits;
  if (op.getRandomBits()) {
    llvm::Expected<Slot> bits = usedSlot(op.getRandomBits());
    if (!bits)
      return bits.takeError();
    randomBits = *bits;
  }
  llvm::Expected<Place> result = used(op.getResult());
  if (!result)
    return result.takeError();
  const auto type = mlir::cast<ir::ScaledType>(op.getResult().getType());
  add(sequence, std::make_unique<steps::QuantizeStep>(
                    text(op), *from, randomBits, type.getShape().vec(), type.getKind(),
                    op.getQuantization().getOptions(type, element->format()), result->number));
  return llvm::Error::success();
}

llvm::Error Lowering::fromParts(ir::PackOp op, Sequence& sequence) {
  llvm::Expected<steps::ScaledParts> from = parts(op);
  if (!from)
    return from.takeError();
  llvm::Expected<Place> result = used(op.getResult());
  if (!result)
    return result.takeError();
  add(sequence, std::make_unique<steps::FromPartsStep>(text(op), std::move(*from), result->number));
  return llvm::Error::success();
}

/// A product of two scaled tensors that lie among the values.
llvm::Error Lowering::stored(ir::DotGeneralOp op, Sequence& sequence) {
  std::string why;
  const std::optional<StoredProduct> product = storedProduct(op, &why);
  if (!product)
    return interpret(op, sequence, std::move(why));
  llvm::Expected<std::vector<Place>> sides = used(op->getOperands());
  if (!sides)
    return sides.takeError();
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  const int left = program.packedCount++;
  add(sequence,
      std::make_unique<steps::PackStoredStep>(text(op), product->plan, (*sides)[0].number, left));
  add(sequence, std::make_unique<steps::ScaledProductStep>(
                    text(op), product->plan, left, (*sides)[1].number, product->isTransposed,
                    *result, product->rows, product->columns, program.rightCount++));
  return llvm::Error::success();
}

llvm::Expected<Lowering::ProductStepPtr> Lowering::matrices(mlir::Operation* op,
                                                            const MatrixProduct& product) {
  llvm::Expected<Slot> left = usedSlot(product.left.memory);
  if (!left)
    return left.takeError();
  llvm::Expected<Slot> right = usedSlot(product.right.memory);
  if (!right)
    return right.takeError();
  if (product.right.batch.size() == 1)
    ++slot(*right).packs;
  llvm::Expected<Slot> result = usedSlot(op->getResult(0));
  if (!result)
    return result.takeError();
  std::vector<kernels::BatchOffsets> batch;
  for (std::size_t b = 0; b < product.left.batch.size(); ++b)
    batch.push_back({product.left.batch[b], product.right.batch[b],
                     static_cast<std::ptrdiff_t>(b) * product.rows * product.columns});
  const auto side = [](Slot slot, const MatrixLayout& layout) {
    return steps::MatrixProductStep::Side{slot, layout.offset, layout.stride, layout.depthStride,
                                          layout.codes};
  };
  return std::make_unique<steps::MatrixProductStep>(
      text(op), product.type, side(*left, product.left), side(*right, product.right), *result,
      product.rows, product.depth, product.columns, std::move(batch), program.rightCount++);
}

llvm::Expected<Lowering::ProductStepPtr> Lowering::convolution(mlir::Operation* op,
                                                               const PatchProduct& product) {
  llvm::Expected<Slot> input = usedSlot(product.input);
  if (!input)
    return input.takeError();
  llvm::Expected<Slot> weight = usedSlot(product.weight);
  if (!weight)
    return weight.takeError();
  ++slot(*weight).packs;
  llvm::Expected<Slot> result = usedSlot(op->getResult(0));
  if (!result)
    return result.takeError();
  return std::make_unique<steps::ConvolutionStep>(text(op), product.shape, *input, *weight, *result,
                                                  program.rightCount++);
}

llvm::Expected<steps::ScaledParts> Lowering::parts(ir::PackOp op) {
  llvm::SmallVector<Slot> slots;
  for (mlir::Value value : op->getOperands()) {
    llvm::Expected<Slot> slot = usedSlot(value);
    if (!slot)
      return slot.takeError();
    slots.push_back(*slot);
  }
  const auto type = mlir::cast<ir::ScaledType>(op.getResult().getType());
  return steps::ScaledParts{slots[0], slots[1],
                            slots.size() > 2 ? std::optional(slots[2]) : std::nullopt,
                            type.getShape().vec(), type.getKind()};
}

/// The step that packs the left operand of products, quantized where `quantize` says so.
llvm::Expected<Lowering::RowStepPtr> Lowering::pack(mlir::Operation* op,
                                                    const ScaledProduct& product, int number) {
  if (product.leftParts) {
    llvm::Expected<steps::ScaledParts> from = parts(product.leftParts);
    if (!from)
      return from.takeError();
    return std::make_unique<steps::PackPartsStep>(text(op), product.plan, std::move(*from),
                                                  product.rows, number);
  }
  llvm::Expected<Slot> from = usedSlot(product.activations);
  if (!from)
    return from.takeError();
  std::optional<numerics::QuantizeOptions> options;
  if (ir::QuantizeOp quantize = product.quantize)
    options = quantize.getQuantization().getOptions(
        mlir::cast<ir::ScaledType>(quantize.getResult().getType()), format::element("f32"));
  return std::make_unique<steps::PackStep>(text(op), product.plan, std::move(options), *from,
                                           product.rows, number);
}

/// Packs and multiplies; a quantization has been packed before.
llvm::Expected<Lowering::ProductStepPtr> Lowering::scaled(mlir::Operation* op,
                                                          const ScaledProduct& product,
                                                          std::vector<RowStepPtr>& steps) {
  steps::ScaledProductStep::Weight weight;
  if (product.rightParts) {
    llvm::Expected<steps::ScaledParts> right = parts(product.rightParts);
    if (!right)
      return right.takeError();
    weight = std::move(*right);
  } else {
    llvm::Expected<Place> place = used(product.weight);
    if (!place)
      return place.takeError();
    weight = place->number;
  }
  int left = 0;
  if (product.quantize) {
    left = packed.lookup(product.quantize);
  } else {
    left = program.packedCount++;
    llvm::Expected<RowStepPtr> packing = pack(op, product, left);
    if (!packing)
      return packing.takeError();
    steps.push_back(std::move(*packing));
  }
  llvm::Expected<Slot> result = usedSlot(op->getResult(0));
  if (!result)
    return result.takeError();
  return std::make_unique<steps::ScaledProductStep>(text(op), product.plan, left, std::move(weight),
                                                    product.isTransposed, *result, product.rows,
                                                    product.columns, program.rightCount++);
}

/// The quantization that one of its products packs.
llvm::Expected<Lowering::RowStepPtr> Lowering::quantization(ir::QuantizeOp op) {
  const auto product = *scaledProduct(mlir::cast<ir::DotGeneralOp>(*op.getResult().user_begin()));
  const auto [number, isNew] = packed.try_emplace(op, program.packedCount);
  program.packedCount += isNew ? 1 : 0;
  return pack(op, product, number->second);
}

/// A node's steps, if it can be cut into rows; else none.
llvm::Expected<std::vector<Lowering::RowStepPtr>> Lowering::rowSteps(const Node& node) {
  std::vector<RowStepPtr> steps;
  const auto add = [&](auto step) {
    if (step)
      steps.push_back(std::move(*step));
    return step.takeError();
  };
  const auto finished = [&](llvm::Expected<ProductStepPtr> product) -> llvm::Error {
    if (!product)
      return product.takeError();
    if (node.epilogue) {
      auto epilogue = kernel(*node.epilogue);
      if (!epilogue)
        return epilogue.takeError();
      (*product)->finishWith(std::move(*epilogue));
    }
    steps.push_back(std::move(*product));
    return llvm::Error::success();
  };
  llvm::Error error = llvm::Error::success();
  if (node.isKernel())
    error = add(kernel(node));
  else if (node.matrices)
    error = finished(matrices(node.op, *node.matrices));
  else if (node.patches)
    error = finished(convolution(node.op, *node.patches));
  else if (node.isPacked && !node.op->use_empty())
    error = add(quantization(mlir::cast<ir::QuantizeOp>(node.op)));
  else if (node.scaled && (!node.scaled->quantize || packed.contains(node.scaled->quantize)))
    error = finished(scaled(node.op, *node.scaled, steps));
  if (error)
    return std::move(error);
  return std::move(steps);
}

/// Gives slots that are not in use at the same time the same memory, and says how much all take:
/// the largest first, each at the lowest offset that is free for as long as it is in use. Behind
/// each are `guard` bytes.
std::size_t layOut(llvm::MutableArrayRef<SlotUse*> slots, std::size_t guard) {
  llvm::sort(slots, [](const SlotUse* a, const SlotUse* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  const auto sizeOf = [&](std::size_t bytes) {
    return (bytes + guard + steps::kSlotAlignment - 1) / steps::kSlotAlignment *
           steps::kSlotAlignment;
  };
  std::size_t all = 0;
  std::vector<SlotUse*> placed;
  for (SlotUse* each : slots) {
    const std::size_t size = sizeOf(each->bytes);
    std::size_t offset = 0;
    for (const SlotUse* other : placed) { // sorted by offset
      const bool overlaps = other->first <= each->last && each->first <= other->last;
      if (!overlaps || other->offset + sizeOf(other->bytes) <= offset)
        continue;
      if (other->offset >= offset + size)
        break;
      offset = other->offset + sizeOf(other->bytes);
    }
    each->offset = offset;
    all = std::max(all, offset + size);
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &SlotUse::offset), each);
  }
  return all;
}

llvm::Error Lowering::chain(const Chain& chain, Sequence& sequence) {
  std::vector<RowStepPtr> links;
  std::vector<int> ranged;
  for (mlir::Value value : chain.within) {
    Place place = newPlace(value.getType());
    SlotUse& use = slot(place);
    use.kind = SlotUse::Kind::Range;
    use.bytes /= static_cast<std::size_t>(chain.rows);
    use.first = static_cast<int>(chain.links.size());
    use.last = 0;
    ranged.push_back(place.number);
    places[value] = std::move(place);
  }
  link = 0;
  for (const Node& node : chain.links) {
    const std::size_t before = overwriters.size();
    llvm::Expected<std::vector<RowStepPtr>> steps = rowSteps(node);
    // Other links, and the product whose epilogue writes, read other rows than those that are
    // written, and after they are.
    if (steps && overwriters.size() > before)
      overwriters.back().over.remove_if([&](const auto& each) {
        const auto reads = [&](const Node& other) {
          return llvm::is_contained(memoryReadBy(other), each.second);
        };
        return llvm::any_of(chain.links, [&](const Node& other) {
          const bool isWriter = &other == &node;
          return (reads(other) && !(isWriter && node.isKernel())) ||
                 (other.epilogue && !isWriter && reads(*other.epilogue));
        });
      });
    if (!steps)
      return steps.takeError();
    if (steps->empty())
      return operation(node.op, sequence);
    for (RowStepPtr& step : *steps)
      links.push_back(std::move(step));
    ++link;
  }
  if (chain.rows <= 1 || (links.size() == 1 && !chain.links.front().epilogue)) {
    const int begin = position;
    for (RowStepPtr& step : links)
      add(sequence, std::move(step));
    // What the first reads the last may still need, as rows of a product that are not packed.
    if (links.size() > 1)
      for (SlotUse& use : program.slots)
        if (use.last == begin)
          use.last = position - 1;
    return llvm::Error::success();
  }
  std::vector<SlotUse*> uses;
  for (const int number : ranged)
    uses.push_back(&program.slots[static_cast<std::size_t>(number)]);
  const std::size_t guard = program.guards ? steps::kGuardBytes : 0;
  for (SlotUse* use : uses)
    if (program.guards) // guards stay for all links
      use->first = 0, use->last = kAlways;
  const std::size_t bytesOfRow = layOut(uses, guard);
  std::vector<steps::ChainStep::RangeSlot> slots;
  for (const int number : ranged) {
    const SlotUse& use = program.slots[static_cast<std::size_t>(number)];
    slots.push_back({Slot{number}, use.offset, use.bytes});
  }
  const MatrixProduct* first =
      chain.links.front().matrices ? &*chain.links.front().matrices : nullptr;
  const bool isBatch = first != nullptr && first->left.batch.size() > 1;
  // The memory of a range stays in the second cache; each thread has as many ranges as the others.
  // Products want whole tiles of rows, and all ranges in the order of sums that the whole has.
  constexpr std::size_t kBytesOfRange = std::size_t{1024} * 1024;
  constexpr std::int64_t kTile = 24, kFewest = 48;
  const std::int64_t tile = isBatch ? 1 : kTile;
  const auto fitting =
      static_cast<std::int64_t>(kBytesOfRange / std::max<std::size_t>(1, bytesOfRow));
  const std::int64_t ranges =
      llvm::alignTo(llvm::divideCeil(chain.rows, std::max(fitting, isBatch ? 1 : kFewest)),
                    kernels::threadsOf({}));
  const auto rows =
      static_cast<std::int64_t>(llvm::alignTo(llvm::divideCeil(chain.rows, ranges), tile));
  execution::OperationTextPtr last = links.back()->operation();
  add(sequence, std::make_unique<steps::ChainStep>(std::move(last), std::move(links),
                                                   std::move(slots), bytesOfRow, chain.rows, rows,
                                                   isBatch ? 0 : steps::kFewRows, guard));
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
  steps::Evaluation evaluation =
      [op, evaluate = evaluate](
          std::vector<execution::Value> values,
          const execution::Host& host) -> tl::expected<std::vector<execution::Value>, std::string> {
    llvm::Expected<std::vector<execution::Value>> given = evaluate(op, std::move(values), host);
    if (!given)
      return tl::make_unexpected(llvm::toString(given.takeError()));
    return std::move(*given);
  };
  add(sequence, std::make_unique<steps::InterpretedStep>(text(op), std::move(evaluation),
                                                         std::move(*operands), std::move(*found),
                                                         std::move(reason)));
  return llvm::Error::success();
}

llvm::Error Lowering::loop(stablehlo::WhileOp op, Sequence& sequence) {
  mlir::Block& condition = op->getRegion(0).front();
  mlir::Block& body = op->getRegion(1).front();
  std::vector<steps::WhileStep::Carried> carried;
  std::vector<unsigned> changing; // the operands that these are
  const int begin = position;
  const std::size_t slotsBefore = program.slots.size();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    // What each turn hands on as it is stays where it is, and the loop by itself does not read it:
    // a weight is packed once, not at each turn.
    const bool isSame = body.getTerminator()->getOperand(i) == body.getArgument(i);
    llvm::Expected<Place> given = isSame ? placeOf(op->getOperand(i)) : used(op->getOperand(i));
    if (!given)
      return given.takeError();
    // A donated argument is only updated, in loops too (InPlace.h).
    const bool isDonated = given->memory && slot(*given).kind == SlotUse::Kind::Donated &&
                           inMemory(op->getOperand(i)).hasOneUse();
    Place argument = isSame || isDonated ? *given : newPlace(op->getResult(i).getType());
    keep(argument);
    // One by one: a reference to one's place is gone when the next makes the map grow.
    for (mlir::Value each : {mlir::Value(condition.getArgument(i)),
                             mlir::Value(body.getArgument(i)), mlir::Value(op->getResult(i))}) {
      places[each] = argument;
      if (isSame)
        sharing.insert(each);
    }
    sharing.insert(condition.getArgument(i));
    if (isSame)
      continue;
    changing.push_back(i);
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
  for (std::size_t i = 0; i < carried.size(); ++i) {
    mlir::Value given = body.getTerminator()->getOperand(changing[i]);
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
      Place own =
          newPlace(argument.memory ? op->getResult(changing[i]).getType() : given.getType());
      add(bodySteps, std::make_unique<steps::CopyStep>(text(op), *place, own));
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
      std::make_unique<steps::WhileStep>(text(op), std::move(carried), std::move(conditionSteps),
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
  add(sequence,
      std::make_unique<steps::BranchStep>(text(op), *index, llvm::isa<stablehlo::IfOp>(op),
                                          std::move(branches), std::move(*found)));
  return llvm::Error::success();
}

llvm::Error Lowering::operation(mlir::Operation* op, Sequence& sequence) {
  return llvm::TypeSwitch<mlir::Operation*, llvm::Error>(op)
      .Case([&](stablehlo::WhileOp loopOp) { return loop(loopOp, sequence); })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>(
          [&](auto branchOp) { return branch(branchOp, sequence); })
      .Case([&](stablehlo::SortOp sortOp) { return sort(sortOp, sequence); })
      .Case([&](stablehlo::RngBitGeneratorOp random) { return randomBits(random, sequence); })
      .Case<stablehlo::ScatterOp, stablehlo::SelectAndScatterOp>(
          [&](auto scatterOp) { return scatter(scatterOp, sequence); })
      .Case([&](stablehlo::DynamicUpdateSliceOp updateOp) { return update(updateOp, sequence); })
      .Case([&](ir::QuantizeOp quantizeOp) { return quantize(quantizeOp, sequence); })
      .Case([&](ir::PackOp packOp) { return fromParts(packOp, sequence); })
      .Case([&](ir::DotGeneralOp dot) { return stored(dot, sequence); })
      .Default([&](mlir::Operation*) { return interpret(op, sequence, whyNoCode(op)); });
}

llvm::Error Lowering::block(mlir::Block& block, Sequence& sequence) {
  for (auto convolution : llvm::make_early_inc_range(block.getOps<stablehlo::ConvolutionOp>()))
    layOutConvolution(convolution);
  for (auto dot : llvm::make_early_inc_range(block.getOps<stablehlo::DotGeneralOp>()))
    layOutOperands(dot);
  layOutLeftSides(block);
  for (auto pack : block.getOps<ir::PackOp>())
    layOutParts(pack);
  reduceByRows(block);
  program.operations += llvm::range_size(block.without_terminator());
  llvm::Expected<std::vector<Chain>> chains = chainsOf(block);
  if (!chains)
    return chains.takeError();
  for (const Chain& each : *chains)
    if (llvm::Error error = chain(each, sequence))
      return error;
  return llvm::Error::success();
}

llvm::Error Lowering::results() {
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
    // Slots that loops swap are nobody's result.
    const bool canBeResult = !program.guards && place->memory &&
                             slot(*place).kind == SlotUse::Kind::Arena &&
                             slot(*place).last != kAlways;
    if (place->memory && !canBeResult) {
      Place own = newPlace(end->getOperand(i).getType());
      add(program.steps, std::make_unique<steps::CopyStep>(text(end), *place, own));
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

/// Finds which donated arguments nothing reads any more when their results are written, and makes
/// the code of kernels that read them meanwhile.
void Lowering::overwriteDonated() {
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
    std::vector<Slot> slots;
    for (mlir::Value argument : code->arguments)
      slots.push_back(Slot{places.lookup(inMemory(argument)).number});
    each.step->addInPlace(program.functions[numberOf(*code)], std::move(slots));
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
    if (read.kind == SlotUse::Kind::Argument && written.kind == SlotUse::Kind::Result &&
        written.index == static_cast<int>(given.result) && read.last < written.first)
      program.donations.push_back({given.argument, given.result, false});
  }
}

void Lowering::layOutArena() {
  std::vector<SlotUse*> uses;
  for (SlotUse& each : program.slots)
    if (each.kind == SlotUse::Kind::Arena)
      uses.push_back(&each);
  program.arenaBytes = layOut(uses, program.guards ? steps::kGuardBytes : 0);
  if (!program.guards)
    return;
  std::vector<steps::Guards::Piece> pieces;
  for (const SlotUse* each : uses)
    pieces.push_back({Slot{static_cast<int>(each - program.slots.data())}, each->bytes, each->first,
                      each->last});
  program.guards->add(std::move(pieces));
}

llvm::Expected<Lowered> Lowering::lower() {
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
  const std::vector<UpdatedArgument> updated = updatedArguments(function);
  donated = donatedResults(function, updated);
  for (const auto& [argument, result] : updated) {
    SlotUse& use = slot(program.arguments[argument]);
    use.kind = SlotUse::Kind::Donated;
    use.result = static_cast<int>(result);
  }
  if (llvm::Error error = block(body, program.steps))
    return std::move(error);
  if (llvm::Error error = results())
    return std::move(error);
  overwriteDonated();
  layOutArena();
  return Lowered{std::move(program), std::move(kernels)};
}

} // namespace

llvm::Expected<Lowered> lower(mlir::func::FuncOp function, Evaluate evaluate, Guarding guarding) {
  return Lowering(function, evaluate, guarding).lower();
}

} // namespace octavo::conversion
