#include "octavo/Compiler/Kernels/Arithmetic.h"
#include "octavo/Compiler/Kernels/KernelEmitter.h"
#include "octavo/Compiler/Kernels/Sums.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/BatchExtent.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::compiler {

llvm::Value* KernelEmitter::element(mlir::Value value, const Index& index) {
  const auto isRead = [&](mlir::Value each) {
    return isArgument(each) && !kernel.stored.contains(each);
  };
  Element source{value, index};
  while (!isRead(source.tensor) && isView(source.tensor.getDefiningOp()))
    source = sourceOf(source.tensor.getDefiningOp(), source.linear, *this);
  value = source.tensor;
  const Index& linear = source.linear;
  if (isRead(value)) {
    // Code is emitted in the order in which it runs, and each index is that of one row and column.
    if (const auto argument = overwritten.find(value); argument != overwritten.end()) {
      argument->second.reads.push_back(linear);
      if (argument->second.isWritten)
        found.insert(value);
    }
    return load(value, linear);
  }
  mlir::Operation* op = value.getDefiningOp();
  if (kernel.members.contains(op))
    return member(op, value, linear);
  if (const auto bits = splatBits(value))
    return scalars.constant(elementOf(value), *bits);
  const mlir::Type word = mlir::IntegerType::get(value.getContext(), 64);
  if (isItemNumber(op)) {
    // An instruction that nothing folds: for other batch sizes the number is another
    // (kernelOfItems).
    const llvm::APInt bits = *splatBits(op->getOperand(0));
    return scalars.convert(
        word, elementOf(value),
        b.Insert(llvm::BinaryOperator::CreateAdd(b.getInt64(bits.getSExtValue()), b.getInt64(0))));
  }
  auto iota = mlir::cast<stablehlo::IotaOp>(op);
  const auto indices = indicesOf(linear, shapeOf(value), *this);
  return scalars.convert(word, elementOf(value), code(indices[iota.getIotaDimension()]));
}

llvm::Value* KernelEmitter::member(mlir::Operation* op, mlir::Value result, const Index& linear) {
  if (llvm::Value* known = rowValues.lookup(result))
    return known;
  if (llvm::Value* known = columnValues.lookup(result))
    return known;
  if (isInColumns && phases.lookup(op) < phase && !ofRows.contains(op)) {
    if (kernel.stored.contains(result))
      return columnValues[result] = load(result, linear);
    if (llvm::AllocaInst* buffer = kept.lookup(result))
      return columnValues[result] = b.CreateLoad(
                 buffer->getAllocatedType(),
                 b.CreateInBoundsGEP(buffer->getAllocatedType(), buffer, variable(kColumn)));
  }
  auto& values = isInColumns && !ofRows.contains(op) ? columnValues : rowValues;
  if (auto window = mlir::dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    const Values sums = emitSums(*this, window, linear);
    for (const auto& [each, sum] : llvm::zip(op->getResults(), sums))
      values[each] = sum;
    return values[result];
  }
  return values[result] = compute(op, linear);
}

llvm::Value* KernelEmitter::compute(mlir::Operation* op, const Index& linear) {
  return llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(op)
      .Case(
          [&](stablehlo::ConcatenateOp concatenate) { return ofConcatenate(concatenate, linear); })
      .Case([&](stablehlo::PadOp pad) { return ofPad(pad, linear); })
      .Case([&](stablehlo::DynamicSliceOp slice) { return ofDynamicSlice(slice, linear); })
      .Case([&](stablehlo::GatherOp gather) { return ofGather(gather, linear); })
      .Case<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(
          [&](auto sum) { return emitSum(*this, sum, linear); })
      .Default([&](mlir::Operation*) {
        llvm::SmallVector<llvm::Value*> operands;
        for (mlir::Value operand : op->getOperands()) {
          // A scalar operand of select or clamp stands for the whole shape.
          const bool isSpread = shapeOf(operand).empty();
          operands.push_back(element(operand, isSpread ? Index() : linear));
        }
        return emitElementwise(scalars, op, operands);
      });
}

llvm::Value* KernelEmitter::ofConcatenate(stablehlo::ConcatenateOp op, const Index& linear) {
  const auto axis = static_cast<std::size_t>(op.getDimension());
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::Value* place = code(indices[axis]);
  llvm::Value* value = nullptr;
  std::int64_t begin = 0;
  for (mlir::Value input : op.getInputs()) {
    const std::int64_t extent = shapeOf(input)[axis];
    if (extent == 0)
      continue;
    if (const auto part = partRead.find(op); part != partRead.end()) {
      if (part->second < begin + extent) {
        llvm::Value* own = b.CreateNSWSub(place, b.getInt64(begin));
        indices[axis] = Index::variable(define(own, extent), extent);
        return element(input, linearIndex(indices, shapeOf(input)));
      }
      begin += extent;
      continue;
    }
    // Each input is read at an index that is clamped to its extent. A select then takes the element
    // of the input that has the index.
    llvm::Value* own = b.CreateNSWSub(place, b.getInt64(begin));
    own = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, own, b.getInt64(0));
    own = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, own, b.getInt64(extent - 1));
    auto at = indices;
    at[axis] = Index::variable(define(own, extent), extent);
    llvm::Value* read = element(input, linearIndex(at, shapeOf(input)));
    value = value == nullptr
                ? read
                : b.CreateSelect(b.CreateICmpSGE(place, b.getInt64(begin)), read, value);
    begin += extent;
  }
  return value;
}

llvm::Value* KernelEmitter::ofPad(stablehlo::PadOp op, const Index& linear) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  llvm::Value* padding = element(op.getPaddingValue(), Index());
  if (sizeOf(op.getOperand()) == 0)
    return padding;
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::Value* isInside = b.getTrue();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t low = op.getEdgePaddingLow()[axis], high = op.getEdgePaddingHigh()[axis];
    const std::int64_t step = op.getInteriorPadding()[axis] + 1;
    if (low == 0 && high == 0 && step == 1)
      continue;
    llvm::Value* place = b.CreateNSWSub(code(indices[axis]), b.getInt64(low));
    isInside = b.CreateAnd(isInside, b.CreateICmpSGE(place, b.getInt64(0)));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, place, b.getInt64(0));
    if (step != 1) {
      isInside = b.CreateAnd(isInside,
                             b.CreateICmpEQ(b.CreateURem(place, b.getInt64(step)), b.getInt64(0)));
      place = b.CreateUDiv(place, b.getInt64(step));
    }
    isInside = b.CreateAnd(isInside, b.CreateICmpSLT(place, b.getInt64(shape[axis])));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, place, b.getInt64(shape[axis] - 1));
    indices[axis] = Index::variable(define(place, shape[axis]), shape[axis]);
  }
  return b.CreateSelect(isInside, element(op.getOperand(), linearIndex(indices, shape)), padding);
}

/// A start index that the program computes, clamped to 0 .. largest.
Index KernelEmitter::clampedStart(mlir::Value starts, const Index& linear, std::int64_t largest) {
  if (largest == 0)
    return Index();
  llvm::Value* start = element(starts, linear);
  if (compiler::isUnsigned(elementOf(starts))) {
    if (start->getType()->getIntegerBitWidth() < 64)
      start = b.CreateZExt(start, b.getInt64Ty());
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, start, b.getInt64(largest));
  } else {
    start = b.CreateSExt(start, b.getInt64Ty());
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, start, b.getInt64(0));
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, b.getInt64(largest));
  }
  return Index::variable(define(start, largest + 1), largest + 1);
}

llvm::Value* KernelEmitter::ofDynamicSlice(stablehlo::DynamicSliceOp op, const Index& linear) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    indices[axis] = indices[axis] + clampedStart(op.getStartIndices()[static_cast<unsigned>(axis)],
                                                 Index(), shape[axis] - op.getSliceSizes()[axis]);
  return element(op.getOperand(), linearIndex(indices, shape));
}

llvm::Value* KernelEmitter::ofGather(stablehlo::GatherOp op, const Index& linear) {
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  const llvm::ArrayRef<std::int64_t> startShape = shapeOf(op.getStartIndices());
  const auto at = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::SmallVector<Index> batch, offset;
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    (llvm::is_contained(numbers.getOffsetDims(), static_cast<std::int64_t>(axis)) ? offset : batch)
        .push_back(at[axis]);
  const auto vectorAxis = static_cast<std::size_t>(numbers.getIndexVectorDim());

  llvm::SmallVector<Index> indices(shape.size());
  std::size_t nextOffset = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto name = static_cast<std::int64_t>(axis);
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), name) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), name))
      indices[axis] = offset[nextOffset++];
  }
  for (const auto [component, axis] : llvm::enumerate(numbers.getStartIndexMap())) {
    llvm::SmallVector<Index> start(batch);
    if (vectorAxis < startShape.size())
      start.insert(start.begin() + static_cast<std::ptrdiff_t>(vectorAxis),
                   Index(static_cast<std::int64_t>(component)));
    const auto operandAxis = static_cast<std::size_t>(axis);
    indices[operandAxis] =
        indices[operandAxis] + clampedStart(op.getStartIndices(), linearIndex(start, startShape),
                                            shape[operandAxis] - op.getSliceSizes()[operandAxis]);
  }
  for (const auto [ours, theirs] :
       llvm::zip(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims())) {
    const auto inBatch =
        static_cast<std::size_t>(theirs) - (static_cast<std::size_t>(theirs) > vectorAxis ? 1 : 0);
    indices[static_cast<std::size_t>(ours)] = batch[inBatch];
  }
  return element(op.getOperand(), linearIndex(indices, shape));
}

} // namespace octavo::compiler
