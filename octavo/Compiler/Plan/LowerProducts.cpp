#include "octavo/Compiler/Plan/FunctionLowering.h"

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Program/Steps/Products/ComplexProduct.h"
#include "octavo/Program/Steps/Products/Quantize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace octavo::compiler {

/// Quantizes to a scaled tensor. A quantization that only left sides of products read does not get
/// here: its products pack it.
llvm::Error FunctionLowering::quantize(ir::QuantizeOp op, Sequence& sequence) {
  const auto element = elementType(mlir::getElementTypeOrSelf(op.getOperand().getType()));
  if (!element || element->format().name != "f32")
    return interpret(op, sequence, "the kernels quantize f32");
  const QuantizationSource source = quantizationSource(op);
  llvm::Expected<Slot> from = usedSlot(source.kept ? source.kept->tensor : source.values);
  if (!from)
    return from.takeError();
  std::optional<Slot> randomBits;
  if (source.randomBits) {
    llvm::Expected<Slot> bits = usedSlot(source.randomBits);
    if (!bits)
      return bits.takeError();
    randomBits = *bits;
  }
  std::optional<program::QuantizeStep::Slices> slices;
  if (source.kept) {
    llvm::Expected<program::IndexedSlice> choice = sliceChoice(source.kept->choices);
    if (!choice)
      return choice.takeError();
    slices = {source.kept->values, elementFormat(elementOf(source.kept->tensor)), *choice};
  }
  llvm::Expected<Place> result = used(op.getResult());
  if (!result)
    return result.takeError();
  const auto type = mlir::cast<ir::ScaledType>(op.getResult().getType());
  add(sequence, std::make_unique<program::QuantizeStep>(
                    text(op), *from, std::move(slices), randomBits,
                    source.isTransposed ? kernels::Layout::Transposed : kernels::Layout::RowMajor,
                    program::ScaledShape(type.getShape().vec(), type.getKind()), optionsOf(op),
                    result->number));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::fromParts(ir::PackOp op, Sequence& sequence) {
  llvm::Expected<program::PartSlots> from = partSlots(op->getOperands());
  if (!from)
    return from.takeError();
  llvm::Expected<Place> result = used(op.getResult());
  if (!result)
    return result.takeError();
  const auto type = mlir::cast<ir::ScaledType>(op.getResult().getType());
  add(sequence, std::make_unique<program::FromPartsStep>(
                    text(op), program::ScaledParts{*from, {type.getShape().vec(), type.getKind()}},
                    result->number));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::dequantize(ir::DequantizeOp op, Sequence& sequence) {
  llvm::Expected<Place> from = used(op.getOperand());
  if (!from)
    return from.takeError();
  llvm::Expected<Slot> result = usedSlot(op.getResult());
  if (!result)
    return result.takeError();
  const auto type = mlir::cast<ir::ScaledType>(op.getOperand().getType());
  add(sequence, std::make_unique<program::DequantizeStep>(
                    text(op), from->number,
                    program::ScaledShape(type.getShape().vec(), type.getKind()), *result));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::toParts(ir::UnpackOp op, Sequence& sequence) {
  llvm::Expected<Place> from = used(op.getOperand());
  if (!from)
    return from.takeError();
  llvm::Expected<program::PartSlots> to = partSlots(op->getResults());
  if (!to)
    return to.takeError();
  const auto type = mlir::cast<ir::ScaledType>(op.getOperand().getType());
  add(sequence, std::make_unique<program::UnpackStep>(
                    text(op), from->number,
                    program::ScaledParts{*to, {type.getShape().vec(), type.getKind()}}));
  return llvm::Error::success();
}

static program::Matrices leftOf(const ScaledBatch& batch,
                                const std::optional<RowGroups>& groups = {}) {
  return {{groups ? groups->count : batch.count}, batch.sharesLeftScales};
}

static program::Matrices rightOf(const ScaledBatch& batch,
                                 const std::optional<RowGroups>& groups = {}) {
  return {{groups ? groups->count : batch.count}, batch.sharesRightScales};
}

/// A product of two scaled tensors that are values, not memory.
llvm::Error FunctionLowering::stored(ir::DotGeneralOp op, Sequence& sequence) {
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
  add(sequence, std::make_unique<program::PackStoredStep>(
                    text(op), product->plan, (*sides)[0].number, leftOf(product->batch),
                    program::BatchExtent{product->rows}, left));
  add(sequence,
      std::make_unique<program::ScaledProductStep>(
          text(op), product->plan, left, (*sides)[1].number, std::nullopt, rightOf(product->batch),
          product->isTransposed, *result, program::BatchExtent{product->rows}, std::nullopt,
          program::BatchExtent{product->columns}, program.rightCount++));
  return llvm::Error::success();
}

llvm::Expected<std::optional<program::RowGroups>>
FunctionLowering::rowGroups(const std::optional<RowGroups>& groups) {
  if (!groups)
    return std::nullopt;
  llvm::Expected<program::StartIndex> sizes = startIndex(groups->sizes);
  if (!sizes)
    return sizes.takeError();
  return program::RowGroups{sizes->slot, sizes->bytes, sizes->isUnsigned, groups->count};
}

llvm::Expected<FunctionLowering::ProductStepPtr> FunctionLowering::matrices(const Node& node) {
  mlir::Operation* const op = node.op;
  const MatrixProduct& product = *node.matrices;
  if (node.prologue) {
    const mlir::Value made = inMemory(product.right.memory);
    Place place = newPlace(made.getType());
    const std::int64_t rowElements =
        product.right.depthStride == 1 ? product.depth : product.columns;
    slot(place).kind = SlotUse::Kind::Rows;
    slot(place).bytes = rowElements * containerBytes(elementOf(product.right.memory));
    places[made] = std::move(place);
  }
  llvm::Expected<std::vector<Slot>> slots =
      usedSlots({product.left.memory, product.right.memory, op->getResult(0)});
  if (!slots)
    return slots.takeError();
  const Slot left = (*slots)[0], right = (*slots)[1], result = (*slots)[2];
  if (product.type && product.right.isPacked())
    ++slot(right).packs;
  std::vector<kernels::BatchOffsets> batch;
  for (std::size_t b = 0; b < product.left.batch.size(); ++b)
    batch.push_back({product.left.batch[b], product.right.batch[b],
                     static_cast<std::ptrdiff_t>(b) * product.rows * product.columns});
  if (!product.type) {
    const auto side = [](Slot slot, const MatrixLayout& layout) {
      return program::ComplexProductStep::Side{slot, layout.offset, layout.stride,
                                               layout.depthStride};
    };
    const auto type = mlir::cast<mlir::ComplexType>(elementOf(op->getResult(0)));
    return std::make_unique<program::ComplexProductStep>(
        text(op), type.getElementType().isF64(), side(left, product.left),
        side(right, product.right), result, program::BatchExtent{product.rows}, product.depth,
        product.columns, program::MatrixBatch{std::move(batch)});
  }
  llvm::Expected<program::IndexedSlice> slices = sliceChoice(product.right.choices);
  if (!slices)
    return slices.takeError();
  const auto side = [](Slot slot, const MatrixLayout& layout) {
    return program::MatrixProductStep::Side{slot, layout.offset, layout.stride, layout.depthStride,
                                            layout.from};
  };
  auto groups = rowGroups(product.groups);
  if (!groups)
    return groups.takeError();
  program::MatrixProductStep::Side rightSide = side(right, product.right);
  rightSide.slices = *slices;
  rightSide.sliceStride = product.right.sliceStride;
  auto step = std::make_unique<program::MatrixProductStep>(
      text(op), *product.type, side(left, product.left), rightSide, result,
      program::BatchExtent{product.rows}, *groups, product.depth, product.columns,
      program::MatrixBatch{std::move(batch)}, program.rightCount++);
  if (node.prologue) {
    auto prologue = kernel(*node.prologue);
    if (!prologue)
      return prologue.takeError();
    step->beginWith(std::move(*prologue));
  }
  return step;
}

llvm::Expected<FunctionLowering::ProductStepPtr>
FunctionLowering::convolution(mlir::Operation* op, const PatchProduct& product) {
  llvm::Expected<std::vector<Slot>> slots =
      usedSlots({product.input, product.weight, op->getResult(0)});
  if (!slots)
    return slots.takeError();
  const Slot input = (*slots)[0], weight = (*slots)[1], result = (*slots)[2];
  ++slot(weight).packs;
  return std::make_unique<program::ConvolutionStep>(text(op), product.shape, input, weight, result,
                                                    program.rightCount++);
}

llvm::Expected<program::PartSlots> FunctionLowering::partSlots(mlir::ValueRange parts) {
  llvm::Expected<std::vector<Slot>> slots = usedSlots(parts);
  if (!slots)
    return slots.takeError();
  return program::PartSlots{(*slots)[0], (*slots)[1],
                            slots->size() > 2 ? std::optional((*slots)[2]) : std::nullopt};
}

/// The step that packs the left operand of products; a PackStep with options also quantizes.
llvm::Expected<FunctionLowering::RowStepPtr>
FunctionLowering::pack(mlir::Operation* op, const ScaledProduct& product, int number) {
  auto groups = rowGroups(product.groups);
  if (!groups)
    return groups.takeError();
  if (product.leftParts) {
    llvm::Expected<program::PartSlots> from = partSlots(product.leftParts->getOperands());
    if (!from)
      return from.takeError();
    return std::make_unique<program::PackPartsStep>(
        text(op), product.plan, *from, leftOf(product.batch, product.groups),
        program::BatchExtent{product.rows}, *groups, number);
  }
  llvm::Expected<Slot> from = usedSlot(product.activations);
  if (!from)
    return from.takeError();
  std::optional<numerics::QuantizeOptions> options;
  if (ir::QuantizeOp quantize = product.quantize)
    options = optionsOf(quantize);
  return std::make_unique<program::PackStep>(text(op), product.plan, std::move(options), *from,
                                             leftOf(product.batch, product.groups),
                                             program::BatchExtent{product.rows}, *groups, number);
}

/// Adds the packing of the left side to `steps`, unless it was quantized and packed before.
llvm::Expected<FunctionLowering::ProductStepPtr>
FunctionLowering::scaled(mlir::Operation* op, const ScaledProduct& product,
                         std::vector<RowStepPtr>& steps) {
  program::ScaledProductStep::Weight weight;
  std::optional<program::GatheredWeight> moved;
  if (product.moved) {
    llvm::Expected<program::IndexedSlice> slices = sliceChoice(product.moved->choices);
    if (!slices)
      return slices.takeError();
    moved = {product.moved->elements, product.moved->scales, *slices};
  }
  if (product.rightParts && !(moved && product.moved->whole)) {
    llvm::Expected<program::PartSlots> right =
        partSlots(moved ? mlir::ValueRange(product.moved->parts)
                        : mlir::ValueRange(product.rightParts->getOperands()));
    if (!right)
      return right.takeError();
    weight = *right;
  } else {
    llvm::Expected<Place> place = used(moved ? product.moved->whole : product.weight);
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
  auto groups = rowGroups(product.groups);
  if (!groups)
    return groups.takeError();
  llvm::Expected<Slot> result = usedSlot(op->getResult(0));
  if (!result)
    return result.takeError();
  return std::make_unique<program::ScaledProductStep>(
      text(op), product.plan, left, weight, std::move(moved),
      rightOf(product.batch, product.groups), product.isTransposed, *result,
      program::BatchExtent{product.rows}, *groups, program::BatchExtent{product.columns},
      program.rightCount++);
}

/// The step that packs a quantization, for the first of its products.
llvm::Expected<FunctionLowering::RowStepPtr> FunctionLowering::quantization(ir::QuantizeOp op) {
  const auto product = *scaledProduct(mlir::cast<ir::DotGeneralOp>(*op.getResult().user_begin()));
  const auto [number, isNew] = packed.try_emplace(op, program.packedCount);
  program.packedCount += isNew ? 1 : 0;
  return pack(op, product, number->second);
}

/// The steps of a node, if it can be cut into rows; else none.
llvm::Expected<std::vector<FunctionLowering::RowStepPtr>>
FunctionLowering::rowSteps(const Node& node) {
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
    error = finished(matrices(node));
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

llvm::Error FunctionLowering::chain(const Chain& chain, Sequence& sequence) {
  std::vector<RowStepPtr> links;
  std::vector<int> ranged;
  for (mlir::Value value : chain.within) {
    Place place = newPlace(value.getType());
    SlotUse& use = slot(place);
    use.kind = SlotUse::Kind::Range;
    use.bytes.fixed /= chain.rows;
    use.first = static_cast<int>(chain.links.size());
    use.last = 0;
    ranged.push_back(place.number);
    places[value] = std::move(place);
  }
  link = 0;
  for (const Node& node : chain.links) {
    const std::size_t before = overwriters.size();
    llvm::Expected<std::vector<RowStepPtr>> steps = rowSteps(node);
    if (steps && overwriters.size() > before)
      overwriters.back().over.remove_if(
          [&](const auto& each) { return isReadBeside(node, chain, each.second); });
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
    // The last step may read what the first one reads, as rows of a product that are not packed.
    if (links.size() > 1)
      for (SlotUse& use : program.slots)
        if (use.last == begin)
          use.last = position - 1;
    return llvm::Error::success();
  }
  std::vector<SlotUse*> uses;
  for (const int number : ranged)
    uses.push_back(&program.slots[static_cast<std::size_t>(number)]);
  const std::size_t guard = program.guards ? program::kGuardBytes : 0;
  for (SlotUse* use : uses)
    if (program.guards) // guards stay for all links
      use->first = 0, use->last = kAlways;
  const program::BatchExtent bytesOfRow = layOut(uses, guard);
  std::vector<program::ChainStep::RangeSlot> slots;
  for (const int number : ranged) {
    const SlotUse& use = program.slots[static_cast<std::size_t>(number)];
    slots.push_back({Slot{number}, use.offset, use.bytes});
  }
  program::OperationTextPtr last = links.back()->operation();
  add(sequence, std::make_unique<program::ChainStep>(
                    std::move(last), std::move(links), std::move(slots), bytesOfRow,
                    program::BatchExtent{chain.rows}, chain.isBatch, guard));
  return llvm::Error::success();
}

} // namespace octavo::compiler
