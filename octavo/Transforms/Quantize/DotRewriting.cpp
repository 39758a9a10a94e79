#include "octavo/Transforms/Quantize/DotRewriting.h"

#include "octavo/Dialect/Octavo/ArgumentExponents.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

bool hasUnusedResult(stablehlo::OptimizationBarrierOp barrier) {
  return llvm::any_of(barrier->getResults(), [](mlir::Value each) { return each.use_empty(); });
}

/// Replaces a barrier by one with only the used results.
mlir::Operation* withUsedResults(stablehlo::OptimizationBarrierOp barrier) {
  llvm::SmallVector<mlir::Value> operands, results;
  for (auto [operand, result] : llvm::zip_equal(barrier->getOperands(), barrier->getResults()))
    if (!result.use_empty()) {
      operands.push_back(operand);
      results.push_back(result);
    }
  mlir::OpBuilder builder(barrier);
  auto fewer = stablehlo::OptimizationBarrierOp::create(
      builder, barrier.getLoc(), mlir::ValueRange(operands).getTypes(), operands);
  for (auto [before, result] : llvm::zip_equal(results, fewer->getResults()))
    before.replaceAllUsesWith(result);
  return fewer;
}

} // namespace

void DotRewriting::quantizeRoots() {
  // The types and attributes of a function's arguments are changed together, once for each
  // function.
  llvm::MapVector<mlir::Operation*, llvm::SmallVector<mlir::DictionaryAttr>> functions;
  for (const auto& [root, ahead] : plan.roots()) {
    if (ahead.constant) {
      mlir::OpBuilder builder(root.getContext());
      builder.setInsertionPointAfterValue(root);
      roots[root] = materialize(builder, root.getLoc(), *ahead.constant);
      maybeUnused.insert(root.getDefiningOp());
      continue;
    }
    auto argument = llvm::cast<mlir::BlockArgument>(root);
    auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    const unsigned index = argument.getArgNumber();
    argument.setType(ahead.type);
    roots[root] = argument;
    llvm::SmallVector<mlir::DictionaryAttr>& attributes = functions[function];
    if (attributes.empty())
      function.getAllArgAttrs(attributes);
    if (function.isPrivate())
      continue;
    mlir::NamedAttrList own(attributes[index]);
    own.set(ir::OctavoDialect::kQuantize, ahead.quantization);
    if (ahead.exponents)
      own.set(ir::kExponents,
              ir::exponentsAttribute(root.getContext(), {ahead.axis, *ahead.exponents}));
    attributes[index] = own.getDictionary(root.getContext());
  }
  for (const auto& [op, attributes] : functions) {
    auto function = llvm::cast<mlir::func::FuncOp>(op);
    function.setType(mlir::FunctionType::get(function.getContext(),
                                             function.getBody().front().getArgumentTypes(),
                                             function.getResultTypes()));
    if (function.isPublic())
      function.setAllArgAttrs(attributes);
  }
  for (const auto& [root, ahead] : plan.roots())
    if (privateFunctionOf(root))
      giveScaled(llvm::cast<mlir::BlockArgument>(root), ahead);
}

/// Makes the calls of a private function pass its argument scaled.
void DotRewriting::giveScaled(mlir::BlockArgument argument, const AheadRoot& ahead) {
  const unsigned place = argument.getArgNumber();
  for (mlir::func::CallOp call : program.callsOf(privateFunctionOf(argument))) {
    const mlir::Value given = call.getOperand(place);
    const AheadSide* own = plan.find(call, place);
    call.setOperand(place, own ? taken(*own, call, nullptr)
                               : quantize(multiplied(given, ahead.axis, ahead.exponents.get(),
                                                     /*isWeight=*/true, call.getLoc()),
                                          ahead.type, ahead.quantization, call.getLoc()));
  }
}

/// The operand that `user` gets from a root that is quantized ahead; if `merged` is not null, with
/// merged contracted axes.
mlir::Value DotRewriting::taken(const AheadSide& ahead, mlir::Operation* user,
                                const MergedAxes* merged) {
  const mlir::Value scaled = roots.lookup(ahead.root);
  maybeUnused.insert(ahead.movement.begin(), ahead.movement.end());
  if (!ahead.moved)
    return scaled;
  mlir::OpBuilder builder(user);
  return weights.at(builder, user->getLoc(), ahead.root, scaled, ahead.movement, merged,
                    ahead.moved);
}

/// Multiplies the columns of a tensor along its one contracted axis by their powers of two.
mlir::Value DotRewriting::multiplied(mlir::Value given, std::int64_t axis,
                                     const ColumnExponents* exponents, bool isWeight,
                                     mlir::Location location) {
  if (!exponents)
    return given;
  mlir::Value& value = moved[{given, axis, exponents}];
  if (!value) {
    ColumnExponents own = *exponents;
    if (!isWeight)
      for (std::int8_t& exponent : own)
        exponent = static_cast<std::int8_t>(-exponent);
    mlir::OpBuilder builder(given.getContext());
    builder.setInsertionPointAfterValue(given);
    value = timesPowersOfTwo(builder, location, given, axis, own);
  }
  return value;
}

mlir::Value DotRewriting::move(const DotSide& side) {
  stablehlo::DotGeneralOp op = side.op;
  return multiplied(side.value(), side.contracting.front(), side.exponents.get(), side.isWeight(),
                    op.getLoc());
}

mlir::Value DotRewriting::merge(const DotSide& side, const MergedAxes& merged) {
  if (side.contracting.size() == 1)
    return move(side);
  mlir::Value& value = merges[{side.value().getAsOpaquePointer(),
                               {side.contracting.begin(), side.contracting.end()}}];
  if (!value) {
    mlir::OpBuilder builder(side.value().getContext());
    builder.setInsertionPointAfterValue(side.value());
    stablehlo::DotGeneralOp op = side.op;
    value = applyMerge(builder, op.getLoc(), side.value(), merged);
  }
  return value;
}

void DotRewriting::take(const ConvolutionDot& convolution) {
  convolutions[convolution.dot()] = &convolution;
  for (mlir::Operation* each : convolution.operations())
    if (each != convolution.dot())
      maybeUnused.insert(each);
}

/// The convolution whose patches a side is, if its input may be quantized instead of the patches;
/// else null.
const ConvolutionDot* DotRewriting::convolutionOf(const DotSide& side) const {
  stablehlo::DotGeneralOp op = side.op;
  return side.index == 0 && side.format && !side.isRoundedAtRandom() ? convolutions.lookup(op)
                                                                     : nullptr;
}

/// The patches of a convolution, made of codes and scales of its input; null if the patches
/// themselves are quantized.
mlir::Value DotRewriting::patches(const DotSide& side, const MergedAxes& merged) {
  stablehlo::DotGeneralOp op = side.op;
  const ConvolutionDot* convolution = convolutionOf(side);
  if (!convolution || side.settings->delayed || side.exponents)
    return {};
  const auto type = [&](llvm::ArrayRef<std::int64_t> shape) {
    return scaledType(op.getContext(), *side.format, shape,
                      static_cast<std::int64_t>(shape.size()) - 1);
  };
  const ir::ScaledType ofPatches = type(merged.shape);
  return convolution->quantizedLeft(
      merged.shape, {type,
                     [&](mlir::Value value, ir::ScaledType own) {
                       return quantize(value, own, DotChoice::quantization(side, own), op.getLoc());
                     },
                     DotChoice::quantization(side, ofPatches)
                         .getOptions(ofPatches, *elementFormatOf(side.value()))});
}

mlir::Value DotRewriting::quantize(const DotSide& side, mlir::Value value,
                                   const MergedAxes& merged) {
  const ir::ScaledType type =
      scaledType(value.getContext(), *side.format, merged.shape, merged.contracting);
  const ir::QuantizationAttr quantization = DotChoice::quantization(side, type);
  stablehlo::DotGeneralOp op = side.op;
  if (!side.isRoundedAtRandom())
    return quantize(value, type, quantization, op.getLoc());
  // Random numbers of an iteration or a branch are drawn there, wherever the value comes from.
  const bool isBeside = value.getParentBlock() == op->getBlock();
  mlir::Value own;
  mlir::Value& quantized = isBeside ? inProgram[{value, type, quantization}] : own;
  if (!quantized) {
    mlir::OpBuilder builder(op);
    if (isBeside)
      builder.setInsertionPointAfterValue(value);
    const mlir::Value bits = random.bits(builder, op.getLoc(), merged.shape);
    quantized = ir::QuantizeOp::create(builder, op.getLoc(), type, value, bits, quantization);
  }
  return quantized;
}

/// Quantizes right after the value's definition, so that one quantization serves all users.
mlir::Value DotRewriting::quantize(mlir::Value value, ir::ScaledType type,
                                   ir::QuantizationAttr quantization, mlir::Location location) {
  mlir::Value& quantized = inProgram[{value, type, quantization}];
  if (!quantized) {
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    quantized = ir::QuantizeOp::create(builder, location, type, value, mlir::Value(), quantization);
  }
  return quantized;
}

/// One scale covers the whole tensor, so all dots share its codes however they merge its axes.
/// `value` has the merged shape or the side's.
mlir::Value DotRewriting::quantizeDelayed(const DotSide& side, mlir::Value value,
                                          const MergedAxes& merged) {
  stablehlo::DotGeneralOp op = side.op;
  const DelayedScaling& scaling = *side.settings->delayed;
  const bool isSide = value == side.value();
  const ConvolutionDot* convolution = isSide ? convolutionOf(side) : nullptr;
  const mlir::Value repeated = convolution ? convolution->repeatedInput() : mlir::Value();
  if (repeated)
    value = repeated;
  const auto [found, isNew] =
      codes.try_emplace(std::tuple(value.getAsOpaquePointer(), &*side.format->element,
                                   scaling.margin, side.isRoundedAtRandom()));
  if (isNew) {
    mlir::Value bits;
    if (side.isRoundedAtRandom()) {
      mlir::OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
      bits = random.bits(builder, op.getLoc(), type.getShape());
    }
    found->second = delayed.quantize(value, *side.format->element, scaling, bits);
  }
  const auto& [elements, inverse] = found->second;

  mlir::OpBuilder builder(op);
  const ir::ScaledType type =
      scaledType(builder.getContext(), *side.format, merged.shape, merged.contracting);
  const auto grid = mlir::RankedTensorType::get(
      llvm::SmallVector<std::int64_t>(merged.shape.size(), 1), builder.getF32Type());
  const mlir::Value scale = stablehlo::ReshapeOp::create(builder, op.getLoc(), grid, inverse);
  mlir::Value merging = elements;
  if (repeated)
    merging = convolution->leftOf(
        builder, elements,
        llvm::cast<mlir::DenseElementsAttr>(builder.getZeroAttr(
            mlir::RankedTensorType::get({}, mlir::getElementTypeOrSelf(elements.getType())))));
  else if (isSide)
    merging = applyMerge(builder, op.getLoc(), elements, merged);
  return ir::PackOp::create(builder, op.getLoc(), type, merging, scale, mlir::Value());
}

void DotRewriting::finishState(DotReport& report) {
  for (auto& [function, scales, history] : delayed.finish())
    report.delayed.push_back({function.getName().str(), scales, history});
  for (mlir::Operation* function : random.finish())
    report.random.push_back(llvm::cast<mlir::func::FuncOp>(function).getName().str());
}

DotRewriting::ScaledSide DotRewriting::scaled(const DotSide& side, mlir::Value signs) {
  MergedAxes merged = side.merged();
  if (const AheadSide* ahead = plan.find(side)) {
    stablehlo::DotGeneralOp op = side.op;
    maybeUnused.insert(side.trace.movement.begin(), side.trace.movement.end());
    return {taken(*ahead, op, side.contracting.size() > 1 ? &merged : nullptr), ahead->batching,
            ahead->contracting};
  }
  if (const mlir::Value moved = signs ? mlir::Value() : patches(side, merged))
    return {moved, merged.batching, {merged.contracting}};
  const bool isDelayed = side.format && side.settings->delayed;
  mlir::Value value = isDelayed && !signs ? side.value() : merge(side, merged);
  if (signs) {
    stablehlo::DotGeneralOp op = side.op;
    mlir::OpBuilder builder(op);
    value = rotated(builder, op.getLoc(), value, merged.contracting, signs);
    merged.shape.assign(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
  }
  if (isDelayed)
    value = quantizeDelayed(side, value, merged);
  else if (side.format)
    value = quantize(side, value, merged);
  return {value, merged.batching, {merged.contracting}};
}

void DotRewriting::replace(const Dot& dot) {
  stablehlo::DotGeneralOp op = dot.op();
  mlir::OpBuilder builder(op);
  mlir::Value signs;
  if (const std::int64_t size = dot.hadamard())
    signs = random.bits(builder, op.getLoc(), {size});
  const ScaledSide lhs = scaled(dot.sides[0], signs);
  const ScaledSide rhs = scaled(dot.sides[1], signs);
  auto scaledDot = ir::DotGeneralOp::create(
      builder, op.getLoc(), op.getResult().getType(), lhs.value, rhs.value,
      stablehlo::DotDimensionNumbersAttr::get(op.getContext(), lhs.batching, rhs.batching,
                                              lhs.contracting, rhs.contracting),
      mlir::TypeAttr());
  scaledDot->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesWith(scaledDot.getResult());
  op.erase();
}

void DotRewriting::eraseUnused() {
  weights.finish();
  llvm::DenseSet<mlir::Operation*> left(maybeUnused.begin(), maybeUnused.end());
  llvm::SmallVector<mlir::Operation*> pending(maybeUnused.begin(), maybeUnused.end());
  while (!pending.empty()) {
    mlir::Operation* op = pending.pop_back_val();
    if (!left.contains(op)) // erased
      continue;
    auto barrier = llvm::dyn_cast<stablehlo::OptimizationBarrierOp>(op);
    const bool isUnused = op->use_empty();
    if (!isUnused && !(barrier && hasUnusedResult(barrier)))
      continue;
    left.erase(op);
    // Then the operations that only this one used.
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation* maker = operand.getDefiningOp(); maker && left.contains(maker))
        pending.push_back(maker);
    if (!isUnused)
      left.insert(withUsedResults(barrier));
    op->erase();
  }
}

} // namespace octavo::transforms
