#include "octavo/Transforms/Shapes/StaticCounterparts.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::transforms {

namespace {

using mlir::RankedTensorType;
using stablehlo::tensorType;
using Numbers = llvm::SmallVector<std::int64_t>;

std::optional<Numbers> numbersOf(mlir::Value value) {
  mlir::DenseIntElementsAttr constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant)))
    return std::nullopt;
  Numbers numbers;
  for (const llvm::APInt& number : constant)
    numbers.push_back(number.getSExtValue());
  return numbers;
}

/// The result's type with these extents; null if they do not fit it.
RankedTensorType withShape(mlir::Value result, llvm::ArrayRef<std::int64_t> shape) {
  const auto known = [](std::int64_t extent) { return extent >= 0; };
  if (!llvm::all_of(shape, known))
    return {};
  const auto type = RankedTensorType::get(shape, tensorType(result).getElementType());
  return stablehlo::isTensor(type) && stablehlo::isCompatible(type, result.getType())
             ? type
             : RankedTensorType();
}

template <typename Op, typename... Arguments>
mlir::Operation* make(mlir::Operation* op, Arguments&&... arguments) {
  mlir::OpBuilder builder(op);
  return Op::create(builder, op->getLoc(), std::forward<Arguments>(arguments)...);
}

mlir::DenseI64ArrayAttr array(mlir::Operation* op, llvm::ArrayRef<std::int64_t> numbers) {
  return mlir::DenseI64ArrayAttr::get(op->getContext(), numbers);
}

mlir::Operation* staticBroadcast(stablehlo::DynamicBroadcastInDimOp op) {
  const auto shape = numbersOf(op.getOutputDimensions());
  const RankedTensorType type = shape ? withShape(op.getResult(), *shape) : RankedTensorType();
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!type || !operand.hasStaticShape())
    return nullptr;
  for (auto [axis, target] : llvm::enumerate(op.getBroadcastDimensions()))
    if (operand.getDimSize(axis) != 1 && operand.getDimSize(axis) != type.getDimSize(target))
      return nullptr;
  return make<stablehlo::BroadcastInDimOp>(op, type, op.getOperand(),
                                           op.getBroadcastDimensionsAttr());
}

/// An integer operand of padding as an attribute; null if not constant.
mlir::DenseIntElementsAttr paddingOf(mlir::Value operand) {
  const auto numbers = numbersOf(operand);
  if (!numbers)
    return {};
  return mlir::DenseIntElementsAttr::get(
      RankedTensorType::get(tensorType(operand).getShape(),
                            mlir::IntegerType::get(operand.getContext(), 64)),
      llvm::ArrayRef<std::int64_t>(*numbers));
}

mlir::Operation* staticConvolution(stablehlo::DynamicConvOp op) {
  const mlir::DenseIntElementsAttr padding = paddingOf(op.getPadding());
  if (!padding)
    return nullptr;
  return make<stablehlo::ConvolutionOp>(op, op.getType(), op.getLhs(), op.getRhs(),
                                        op.getWindowStridesAttr(), padding, op.getLhsDilationAttr(),
                                        op.getRhsDilationAttr(), op.getWindowReversalAttr(),
                                        op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
                                        op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
}

mlir::Operation* staticGather(stablehlo::DynamicGatherOp op) {
  const auto sizes = numbersOf(op.getSliceSizes());
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!sizes)
    return nullptr;
  for (auto [axis, size] : llvm::enumerate(*sizes))
    if (size < 0 || (!operand.isDynamicDim(axis) && size > operand.getDimSize(axis)))
      return nullptr;
  for (llvm::ArrayRef<std::int64_t> dropped : {op.getDimensionNumbers().getCollapsedSliceDims(),
                                               op.getDimensionNumbers().getOperandBatchingDims()})
    for (std::int64_t axis : dropped)
      if ((*sizes)[axis] > 1)
        return nullptr;
  return make<stablehlo::GatherOp>(op, op.getType(), op.getOperand(), op.getStartIndices(),
                                   op.getDimensionNumbersAttr(), array(op, *sizes),
                                   op.getIndicesAreSortedAttr());
}

mlir::Operation* staticIota(stablehlo::DynamicIotaOp op) {
  const auto shape = numbersOf(op.getOutputShape());
  const RankedTensorType type = shape ? withShape(op.getResult(), *shape) : RankedTensorType();
  return type ? make<stablehlo::IotaOp>(op, type, op.getIotaDimensionAttr()) : nullptr;
}

mlir::Operation* staticPad(stablehlo::DynamicPadOp op) {
  const auto low = numbersOf(op.getEdgePaddingLow()), high = numbersOf(op.getEdgePaddingHigh());
  const auto interior = numbersOf(op.getInteriorPadding());
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!low || !high || !interior || !operand.hasStaticShape())
    return nullptr;
  Numbers shape;
  for (auto [axis, extent] : llvm::enumerate(operand.getShape())) {
    if ((*interior)[axis] < 0)
      return nullptr;
    shape.push_back(extent + (*low)[axis] + (*high)[axis] +
                    std::max<std::int64_t>(extent - 1, 0) * (*interior)[axis]);
  }
  const RankedTensorType type = withShape(op.getResult(), shape);
  if (!type)
    return nullptr;
  return make<stablehlo::PadOp>(op, type, op.getOperand(), op.getPaddingValue(), array(op, *low),
                                array(op, *high), array(op, *interior));
}

mlir::Operation* staticReshape(stablehlo::DynamicReshapeOp op) {
  const auto shape = numbersOf(op.getOutputShape());
  const RankedTensorType type = shape ? withShape(op.getResult(), *shape) : RankedTensorType();
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!type || !operand.hasStaticShape() || operand.getNumElements() != type.getNumElements())
    return nullptr;
  return make<stablehlo::ReshapeOp>(op, type, op.getOperand());
}

mlir::Operation* staticSlice(stablehlo::RealDynamicSliceOp op) {
  const auto start = numbersOf(op.getStartIndices()), limit = numbersOf(op.getLimitIndices());
  const auto strides = numbersOf(op.getStrides());
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!start || !limit || !strides || !operand.hasStaticShape())
    return nullptr;
  Numbers shape;
  for (auto [axis, extent] : llvm::enumerate(operand.getShape())) {
    const std::int64_t from = (*start)[axis], to = (*limit)[axis], step = (*strides)[axis];
    if (from < 0 || from > to || to > extent || step <= 0)
      return nullptr;
    shape.push_back((to - from + step - 1) / step);
  }
  const RankedTensorType type = withShape(op.getResult(), shape);
  return type ? make<stablehlo::SliceOp>(op, type, op.getOperand(), array(op, *start),
                                         array(op, *limit), array(op, *strides))
              : nullptr;
}

/// Element `i` of a list as a scalar.
mlir::Value numberIn(mlir::OpBuilder& builder, mlir::Value list, std::int64_t i) {
  const mlir::Location location = list.getLoc();
  const auto scalar = RankedTensorType::get({}, tensorType(list).getElementType());
  if (const auto numbers = numbersOf(list))
    return stablehlo::ConstantOp::create(
        builder, location,
        mlir::DenseElementsAttr::get(
            scalar, builder.getIntegerAttr(scalar.getElementType(), (*numbers)[i])));
  if (auto whole = list.getDefiningOp<stablehlo::ConcatenateOp>())
    for (mlir::Value part : whole.getInputs()) {
      const std::int64_t count = tensorType(part).getDimSize(0);
      if (i < count)
        return numberIn(builder, part, i);
      i -= count;
    }
  mlir::Value one = list;
  if (tensorType(list).getDimSize(0) != 1)
    one = stablehlo::SliceOp::create(
        builder, location, RankedTensorType::get({1}, scalar.getElementType()), list,
        builder.getDenseI64ArrayAttr({i}), builder.getDenseI64ArrayAttr({i + 1}),
        builder.getDenseI64ArrayAttr({1}));
  else if (auto reshape = list.getDefiningOp<stablehlo::ReshapeOp>();
           reshape && reshape.getOperand().getType() == scalar)
    return reshape.getOperand();
  return stablehlo::ReshapeOp::create(builder, location, scalar, one);
}

/// Replaces a slice of known size whose start a clamp keeps within the operand by dynamic_slice.
/// JAX writes dynamic_slice so if an extent is symbolic.
mlir::Operation* staticSliceAnywhere(stablehlo::RealDynamicSliceOp op) {
  auto begin = op.getStartIndices().getDefiningOp<stablehlo::ClampOp>();
  auto end = op.getLimitIndices().getDefiningOp<stablehlo::AddOp>();
  const auto strides = numbersOf(op.getStrides());
  const RankedTensorType operand = tensorType(op.getOperand());
  if (!begin || !end || !strides || !operand.hasStaticShape() ||
      !tensorType(begin.getResult()).getElementType().isSignlessInteger() ||
      llvm::any_of(*strides, [](std::int64_t stride) { return stride != 1; }))
    return nullptr;
  const bool beginsFirst = end.getLhs() == begin.getResult();
  if (!beginsFirst && end.getRhs() != begin.getResult())
    return nullptr;
  const auto least = numbersOf(begin.getMin()), most = numbersOf(begin.getMax());
  const auto sizes = numbersOf(beginsFirst ? end.getRhs() : end.getLhs());
  if (!least || !most || !sizes)
    return nullptr;
  // Only if the bounds are those to which dynamic_slice clamps.
  for (auto [axis, extent] : llvm::enumerate(operand.getShape()))
    if (least->size() != sizes->size() || most->size() != sizes->size() || (*least)[axis] != 0 ||
        (*sizes)[axis] < 0 || (*sizes)[axis] > extent || (*most)[axis] != extent - (*sizes)[axis])
      return nullptr;
  const RankedTensorType type = withShape(op.getResult(), *sizes);
  if (!type)
    return nullptr;
  mlir::OpBuilder builder(op);
  llvm::SmallVector<mlir::Value> starts;
  for (std::int64_t axis = 0; axis < operand.getRank(); ++axis)
    starts.push_back(numberIn(builder, begin.getOperand(), axis));
  return make<stablehlo::DynamicSliceOp>(op, type, op.getOperand(), starts, array(op, *sizes));
}

/// Cuts off the elements beyond the size, as the interpreter does.
mlir::Operation* cutToSize(stablehlo::SetDimensionSizeOp op) {
  const auto size = numbersOf(op.getSize());
  const RankedTensorType operand = tensorType(op.getOperand());
  const auto axis = static_cast<std::size_t>(op.getDimension());
  if (!size || !operand.hasStaticShape() || size->front() < 0 ||
      size->front() > operand.getDimSize(axis))
    return nullptr;
  Numbers limit(operand.getShape());
  limit[axis] = size->front();
  const RankedTensorType type = withShape(op.getResult(), limit);
  return type ? make<stablehlo::SliceOp>(op, type, op.getOperand(),
                                         array(op, Numbers(limit.size(), 0)), array(op, limit),
                                         array(op, Numbers(limit.size(), 1)))
              : nullptr;
}

mlir::Operation* staticTopK(stablehlo::CustomCallOp op) {
  if (op.getNumOperands() != 2 || op.getNumResults() != 2)
    return nullptr;
  const auto k = numbersOf(op.getOperand(1));
  const auto operand = llvm::dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  if (!k || k->size() != 1 || !operand || operand.getRank() == 0)
    return nullptr;
  Numbers shape(operand.getShape());
  if (k->front() < 0 || (!operand.isDynamicDim(shape.size() - 1) && k->front() > shape.back()))
    return nullptr;
  shape.back() = k->front();
  mlir::Builder builder(op.getContext());
  return make<chlo::TopKOp>(op, RankedTensorType::get(shape, operand.getElementType()),
                            RankedTensorType::get(shape, builder.getI32Type()), op.getOperand(0),
                            builder.getI64IntegerAttr(k->front()), builder.getBoolAttr(true));
}

mlir::Operation* staticRandomBits(stablehlo::CustomCallOp op) {
  if (op.getNumOperands() != 2 || op.getNumResults() != 2)
    return nullptr;
  const auto shape = numbersOf(op.getOperand(1));
  const auto algorithm = op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  const RankedTensorType type = shape ? withShape(op.getResult(1), *shape) : RankedTensorType();
  return type && algorithm ? make<stablehlo::RngBitGeneratorOp>(op, op.getOperand(0).getType(),
                                                                type, algorithm, op.getOperand(0))
                           : nullptr;
}

/// Reads JAX's dynamic reduce_window. Operands: inputs, as many initial values, sizes, strides,
/// dilations of inputs and of windows, padding. The called function becomes the body.
mlir::Operation* staticReduceWindow(stablehlo::CustomCallOp op) {
  const unsigned count = op.getNumResults();
  const auto called = op.getCalledComputations().getAsRange<mlir::FlatSymbolRefAttr>();
  if (count == 0 || op.getNumOperands() != 2 * count + 5 || !llvm::hasSingleElement(called))
    return nullptr;
  auto function =
      mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(op, *called.begin());
  const mlir::OperandRange lists = op.getOperands().drop_front(2 * count);
  llvm::SmallVector<mlir::DenseI64ArrayAttr> windows;
  for (mlir::Value list : lists.drop_back()) {
    const auto numbers = numbersOf(list);
    if (!numbers || llvm::any_of(*numbers, [](std::int64_t number) { return number <= 0; }))
      return nullptr;
    windows.push_back(array(op, *numbers));
  }
  const mlir::DenseIntElementsAttr padding = paddingOf(lists.back());
  if (!function || !llvm::hasSingleElement(function.getBody()) || !padding)
    return nullptr;
  mlir::OpBuilder builder(op);
  auto window = stablehlo::ReduceWindowOp::create(builder, op.getLoc(), op.getResultTypes(),
                                                  op.getOperands().take_front(count),
                                                  op.getOperands().slice(count, count), windows[0],
                                                  windows[1], windows[2], windows[3], padding);
  mlir::IRMapping mapping;
  function.getBody().cloneInto(&window.getBody(), mapping);
  mlir::Operation* terminator = window.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  stablehlo::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
  return window;
}

/// Gives a call whose target is passed its results' shapes the result types of these shapes.
mlir::Operation* shapedCall(stablehlo::CustomCallOp op) {
  const auto indices = op->getAttrOfType<mlir::DenseIntElementsAttr>("indices_of_shape_operands");
  if (!indices || indices.getNumElements() != op.getNumResults())
    return nullptr;
  llvm::SmallVector<mlir::Type> types;
  for (auto [result, index] : llvm::zip_equal(op.getResults(), indices)) {
    const std::int64_t at = index.getSExtValue();
    if (at < 0 || at >= op.getNumOperands())
      return nullptr;
    const auto shape = numbersOf(op.getOperand(static_cast<unsigned>(at)));
    const bool isTensor = llvm::isa<RankedTensorType>(result.getType());
    types.push_back(shape && isTensor ? withShape(result, *shape) : RankedTensorType());
    if (!types.back())
      return nullptr;
  }
  mlir::OpBuilder builder(op);
  mlir::Operation* typed = builder.clone(*op);
  for (auto [result, type] : llvm::zip_equal(typed->getResults(), types))
    result.setType(type);
  typed->removeAttr("indices_of_shape_operands");
  llvm::BitVector isShape(op.getNumOperands());
  for (const llvm::APInt& index : indices)
    isShape.set(static_cast<unsigned>(index.getZExtValue()));
  typed->eraseOperands(isShape);
  if (auto layouts = typed->getAttrOfType<mlir::ArrayAttr>("operand_layouts")) {
    llvm::SmallVector<mlir::Attribute> kept;
    for (auto [i, layout] : llvm::enumerate(layouts))
      if (i >= isShape.size() || !isShape.test(static_cast<unsigned>(i)))
        kept.push_back(layout);
    typed->setAttr("operand_layouts", builder.getArrayAttr(kept));
  }
  return typed;
}

mlir::Operation* staticCall(stablehlo::CustomCallOp op) {
  if (op.getCallTargetName() == "stablehlo.dynamic_reduce_window")
    return staticReduceWindow(op);
  if (op.getCallTargetName() == "stablehlo.dynamic_top_k")
    return staticTopK(op);
  if (op.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator")
    return staticRandomBits(op);
  return shapedCall(op);
}

} // namespace

mlir::Operation* replaceByStatic(mlir::Operation* op) {
  mlir::Operation* counterpart =
      llvm::TypeSwitch<mlir::Operation*, mlir::Operation*>(op)
          .Case([](stablehlo::DynamicBroadcastInDimOp it) { return staticBroadcast(it); })
          .Case([](stablehlo::DynamicConvOp it) { return staticConvolution(it); })
          .Case([](stablehlo::DynamicGatherOp it) { return staticGather(it); })
          .Case([](stablehlo::DynamicIotaOp it) { return staticIota(it); })
          .Case([](stablehlo::DynamicPadOp it) { return staticPad(it); })
          .Case([](stablehlo::DynamicReshapeOp it) { return staticReshape(it); })
          .Case([](stablehlo::RealDynamicSliceOp it) {
            mlir::Operation* slice = staticSlice(it);
            return slice != nullptr ? slice : staticSliceAnywhere(it);
          })
          .Case([](stablehlo::SetDimensionSizeOp it) { return cutToSize(it); })
          .Case([](stablehlo::CustomCallOp it) { return staticCall(it); })
          .Default([](mlir::Operation*) { return nullptr; });
  if (counterpart == nullptr)
    return nullptr;
  op->replaceAllUsesWith(counterpart);
  op->erase();
  return counterpart;
}

} // namespace octavo::transforms
