#include "octavo/Compiler/Plan/FunctionLowering.h"

#include "octavo/Compiler/Kernels/Running.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Sort.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Steps/RandomBits.h"
#include "octavo/Program/Steps/Running.h"
#include "octavo/Program/Steps/Sort.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::compiler {

llvm::Expected<program::StartIndex> FunctionLowering::startIndex(mlir::Value index) {
  llvm::Expected<Slot> slot = usedSlot(index);
  if (!slot)
    return slot.takeError();
  const mlir::Type element = mlir::getElementTypeOrSelf(index.getType());
  return program::StartIndex{*slot, static_cast<int>(containerBytes(element)),
                             element.isUnsignedInteger()};
}

llvm::Expected<program::IndexedSlice> FunctionLowering::sliceChoice(const IndexedSlices& choices) {
  program::IndexedSlice made;
  for (const Choice& choice : choices) {
    llvm::Expected<program::StartIndex> start = startIndex(choice.index);
    if (!start)
      return start.takeError();
    made.axes.push_back({choice.slices, *start, choice.first, choice.stride});
  }
  return made;
}

llvm::Expected<program::UpdateStep::Box>
FunctionLowering::boxOf(stablehlo::DynamicUpdateSliceOp op) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand()),
                                     part = shapeOf(op.getUpdate());
  std::size_t first = 0, last = shape.size();
  while (last > first && shape[last - 1] == part[last - 1])
    --last;
  while (first < last && shape[first] == part[first])
    ++first;
  program::UpdateStep::Box box{.outer = {numerics::elementCount(shape.take_front(first))},
                               .inner = {numerics::elementCount(shape.drop_front(last))},
                               .shape = itemNumbers(shape.slice(first, last - first)),
                               .updateShape = itemNumbers(part.slice(first, last - first)),
                               .starts = {}};
  for (mlir::Value index : op.getStartIndices().slice(first, last - first)) {
    llvm::Expected<program::StartIndex> start = startIndex(index);
    if (!start)
      return start.takeError();
    box.starts.push_back(*start);
  }
  return box;
}

llvm::Error FunctionLowering::update(stablehlo::DynamicUpdateSliceOp op, Sequence& sequence) {
  llvm::Expected<Place> operand = used(op.getOperand());
  if (!operand)
    return operand.takeError();
  if (!operand->memory)
    return interpret(op, sequence, "its elements have no place in memory");
  llvm::Expected<Slot> update = usedSlot(op.getUpdate());
  if (!update)
    return update.takeError();
  llvm::Expected<program::UpdateStep::Box> box = boxOf(op);
  if (!box)
    return box.takeError();
  if (canBeOverwritten(op.getOperand(), op, *operand))
    places[op.getResult()] = *operand;
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  add(sequence,
      std::make_unique<program::UpdateStep>(text(op), Slot{operand->number}, *update, *result,
                                            std::move(*box), operand->memory->type.bytes()));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::write(mlir::Operation* op, const WritingCode& written,
                                    Sequence& sequence) {
  llvm::Expected<std::vector<Slot>> slots = usedSlots(written.code.arguments);
  if (!slots)
    return slots.takeError();
  double bytes = 0;
  for (mlir::Value argument : written.code.arguments)
    bytes += static_cast<double>(sizeOf(argument) * containerBytes(elementOf(argument)));
  if (written.rows == 0 || sizeOf(op->getResult(0)) == 0)
    return llvm::Error::success();
  const std::size_t number = numberOf(written.code);
  std::vector<program::KernelStep::Argument> arguments;
  for (const auto [slot, argument] : llvm::zip(*slots, written.code.arguments))
    arguments.push_back({slot, argument && argument.getDefiningOp() == op});
  auto step = std::make_unique<program::KernelStep>(
      text(op), program.functions[number], std::move(arguments), program::BatchExtent{written.rows},
      program::BatchExtent{std::max<std::int64_t>(1, written.costOfRow)},
      program::StepFacts{.kind = program::StepFacts::Kind::Kernel,
                         .detail = op->getName().stripDialect().str(),
                         .kernel = static_cast<std::int64_t>(number),
                         .bytes = bytes});
  step->goThroughAllInEachRange();
  add(sequence, std::move(step));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::scatter(stablehlo::ScatterOp op, Sequence& sequence) {
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
    add(sequence, std::make_unique<program::CopyStep>(text(op), *from, *to));
  }
  return write(op, emitScatter(op), sequence);
}

llvm::Error FunctionLowering::scatter(stablehlo::SelectAndScatterOp op, Sequence& sequence) {
  if (std::string why = whyNoScatter(op); !why.empty())
    return interpret(op, sequence, std::move(why));
  return write(op, emitScatter(op), sequence);
}

llvm::Error FunctionLowering::sort(stablehlo::SortOp op, Sequence& sequence) {
  if (std::string why = whyNoSort(op); !why.empty())
    return interpret(op, sequence, std::move(why));
  std::vector<program::SortStep::Tensor> tensors;
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
  const program::SortStep::Lines lines{{numerics::elementCount(shape.take_front(axis))},
                                       {shape[axis]},
                                       {numerics::elementCount(shape.drop_front(axis + 1))}};
  const auto reads = [&](const KernelCode& code) {
    return usedSlots(llvm::to_vector(llvm::make_filter_range(
        code.arguments, [](mlir::Value argument) { return argument != nullptr; })));
  };
  const SortCode code = emitSort(op);
  llvm::Expected<std::vector<Slot>> compared = reads(code.comparator);
  if (!compared)
    return compared.takeError();
  const auto function = [&](const KernelCode& of) {
    return &std::as_const(program.functions[numberOf(of)]);
  };
  std::optional<program::SortStep::Keys> keys;
  if (code.keys) {
    llvm::Expected<std::vector<Slot>> slots = reads(code.keys->code);
    if (!slots)
      return slots.takeError();
    const Slot memory{static_cast<int>(program.slots.size())};
    program.slots.push_back(
        {.bytes = code.keys->count * sizeOf(op.getInputs()[0]) * code.keys->bytes,
         .first = position,
         .last = position});
    keys.emplace(function(code.keys->code), std::move(*slots), memory, code.keys->count,
                 code.keys->bytes);
  }
  add(sequence, std::make_unique<program::SortStep>(
                    text(op), std::move(tensors), lines,
                    program::SortStep::Comparator{function(code.comparator), std::move(*compared)},
                    std::move(keys)));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::randomBits(stablehlo::RngBitGeneratorOp op, Sequence& sequence) {
  using Generator = program::RandomBitsStep::Generator;
  // DEFAULT is PHILOX (I23); the verifier leaves the length of its state open.
  const bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  const std::int64_t words = sizeOf(op.getInitialState());
  if (words != 2 && words != 3)
    return interpret(op, sequence, "its state has neither 2 nor 3 numbers");
  llvm::Expected<std::vector<Slot>> states = usedSlots({op.getInitialState(), op.getOutputState()});
  if (!states)
    return states.takeError();
  llvm::Expected<Place> output = used(op.getOutput());
  if (!output)
    return output.takeError();
  if (!output->memory)
    return refusal(op, "elements of this type have no place in memory");
  const numerics::ElementType& element = output->memory->type;
  add(sequence,
      std::make_unique<program::RandomBitsStep>(
          text(op), isThreefry ? Generator::Threefry : Generator::Philox,
          program::RandomBitsStep::State{states->front(), states->back(), words},
          program::RandomBitsStep::Output{Slot{output->number}, shapeOf(op.getOutput()).vec(),
                                          element.width(), element.bytes()}));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::running(stablehlo::ReduceWindowOp op, Sequence& sequence) {
  using Step = program::RunningStep;
  const std::optional<Running> found = runningOf(op);
  if (!found)
    return interpret(op, sequence, whyNoCode(op));
  llvm::Expected<std::vector<Slot>> slots =
      usedSlots({op.getInputs().front(), op.getResults().front()});
  if (!slots)
    return slots.takeError();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs().front());
  const auto axis = static_cast<std::size_t>(found->axis);
  const Step::Layout layout{.outer = {numerics::elementCount(shape.take_front(axis))},
                            .extent = {shape[axis]},
                            .inner = {numerics::elementCount(shape.drop_front(axis + 1))},
                            .isReversed = found->isReversed};
  const mlir::Type element = elementOf(op.getInputs().front());
  const auto type = [&] {
    if (element.isBF16())
      return Step::Element::Bf16;
    if (llvm::isa<mlir::FloatType>(element))
      return element.isF32() ? Step::Element::F32 : Step::Element::F64;
    const auto first = element.isUnsignedInteger() ? Step::Element::U8 : Step::Element::I8;
    return static_cast<Step::Element>(static_cast<unsigned>(first) +
                                      llvm::Log2_32(element.getIntOrFloatBitWidth() / 8));
  }();
  const auto combining = llvm::TypeSwitch<mlir::Operation*, Step::Operation>(found->combined)
                             .Case([](stablehlo::AddOp) { return Step::Operation::Add; })
                             .Case([](stablehlo::MulOp) { return Step::Operation::Multiply; })
                             .Case([](stablehlo::MaxOp) { return Step::Operation::Maximum; })
                             .Default([](mlir::Operation*) { return Step::Operation::Minimum; });
  add(sequence,
      std::make_unique<Step>(text(op), combining, type, layout, slots->front(), slots->back()));
  return llvm::Error::success();
}

} // namespace octavo::compiler
