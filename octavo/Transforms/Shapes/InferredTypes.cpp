#include "octavo/Transforms/Shapes/InferredTypes.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Convolution.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::transforms {

namespace {

using mlir::RankedTensorType;
using mlir::Type;
using stablehlo::Extent;
using stablehlo::Extents;
using stablehlo::tensorType;
using Types = llvm::SmallVector<Type>;

RankedTensorType resultType(mlir::Operation* op, unsigned i = 0) {
  return tensorType(op->getResult(i));
}

/// Result `i` has the shape of operand `i` and keeps its own element type.
Types shapesOfOperands(mlir::Operation* op) {
  Types types;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    types.push_back(stablehlo::tensorOf(stablehlo::extentsOf(tensorType(op->getOperand(i))),
                                        resultType(op, i).getElementType()));
  return types;
}

Types one(mlir::Operation* op, llvm::ArrayRef<Extent> extents) {
  return {stablehlo::tensorOf(extents, resultType(op).getElementType())};
}

Types convolved(stablehlo::ConvolutionOp op) {
  const stablehlo::ConvDimensionNumbersAttr d = op.getDimensionNumbers();
  const Extents input = stablehlo::extentsOf(tensorType(op.getLhs()));
  const Extents kernel = stablehlo::extentsOf(tensorType(op.getRhs()));
  const auto spatial = static_cast<std::int64_t>(d.getInputSpatialDimensions().size());
  llvm::SmallVector<std::int64_t> sizes;
  for (std::int64_t axis : d.getKernelSpatialDimensions()) {
    if (!kernel[axis].isKnown())
      return {};
    sizes.push_back(*kernel[axis].largest());
  }
  const stablehlo::Window window =
      stablehlo::windowOf(spatial, {llvm::ArrayRef(sizes), op.getWindowStrides(),
                                    op.getLhsDilation(), op.getRhsDilation(), op.getPadding()});
  Extents shape(input.size(), Extent::unknown());
  const auto groups = static_cast<std::int64_t>(op.getBatchGroupCount());
  shape[d.getOutputBatchDimension()] =
      input[d.getInputBatchDimension()]
          .map([&](std::int64_t size) { return std::optional(size / groups); })
          .value_or(Extent::unknown());
  shape[d.getOutputFeatureDimension()] = kernel[d.getKernelOutputFeatureDimension()];
  for (std::int64_t i = 0; i < spatial; ++i)
    shape[d.getOutputSpatialDimensions()[i]] =
        input[d.getInputSpatialDimensions()[i]]
            .map([&](std::int64_t size) { return stablehlo::windowCount(size, window[i]); })
            .value_or(Extent::unknown());
  return one(op, shape);
}

Types windowed(stablehlo::ReduceWindowOp op) {
  Types types;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    const Extents extents = stablehlo::extentsOf(tensorType(op.getInputs()[i]));
    const stablehlo::Window window =
        stablehlo::windowOf(static_cast<std::int64_t>(extents.size()),
                            {op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(),
                             op.getWindowDilations(), op.getPadding()});
    Extents shape;
    for (auto [extent, axis] : llvm::zip_equal(extents, window)) {
      const stablehlo::WindowAxis& at = axis;
      shape.push_back(
          extent.map([&](std::int64_t size) { return stablehlo::windowCount(size, at); })
              .value_or(Extent::unknown()));
    }
    types.push_back(stablehlo::tensorOf(shape, resultType(op, i).getElementType()));
  }
  return types;
}

Types reduced(stablehlo::ReduceOp op) {
  Types types;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    Extents shape;
    for (auto [axis, extent] : llvm::enumerate(stablehlo::extentsOf(tensorType(op.getInputs()[i]))))
      if (!llvm::is_contained(op.getDimensions(), static_cast<std::int64_t>(axis)))
        shape.push_back(extent);
    types.push_back(stablehlo::tensorOf(shape, resultType(op, i).getElementType()));
  }
  return types;
}

Types multiplied(stablehlo::DotOp op) {
  const Extents lhs = stablehlo::extentsOf(tensorType(op.getLhs()));
  const Extents rhs = stablehlo::extentsOf(tensorType(op.getRhs()));
  Extents shape(lhs.begin(), lhs.end() - 1);
  shape.append(rhs.begin() + 1, rhs.end());
  return one(op, shape);
}

/// If the element width changes, the shape gains or loses a last axis.
Types reinterpreted(stablehlo::BitcastConvertOp op) {
  Extents shape = stablehlo::extentsOf(tensorType(op.getOperand()));
  const Type elements[] = {tensorType(op.getOperand()).getElementType(),
                           resultType(op).getElementType()};
  if (!llvm::all_of(elements, [](Type each) { return each.isIntOrFloat(); }))
    return {};
  const unsigned from = elements[0].getIntOrFloatBitWidth(),
                 to = elements[1].getIntOrFloatBitWidth();
  if (to < from)
    shape.push_back(Extent::known(from / to));
  else if (to > from)
    shape.pop_back();
  return one(op, shape);
}

/// Result `i` of a collective has the extents that follow from its operand and the groups.
template <typename Op> Types collected(Op op) {
  Types types;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    const std::optional<Extents> extents = op.resultExtents(tensorType(op->getOperand(i)));
    if (!extents)
      return {};
    types.push_back(stablehlo::tensorOf(*extents, resultType(op, i).getElementType()));
  }
  return types;
}

Types joined(sdy::ManualComputationOp op) {
  Types types;
  for (auto [part, sharding] :
       llvm::zip_equal(op.getBody().front().getTerminator()->getOperandTypes(),
                       op.getOutShardings().getShardings()))
    types.push_back(op.wholeOf(part, sharding));
  return types;
}

} // namespace

llvm::SmallVector<Type> inferredTypes(mlir::Operation* op) {
  if (auto infers = llvm::dyn_cast<mlir::InferTypeOpInterface>(op)) {
    Types types;
    if (mlir::failed(infers.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                             op->getRawDictionaryAttrs(),
                                             op->getPropertiesStorage(), op->getRegions(), types)))
      return {};
    return types;
  }
  return llvm::TypeSwitch<mlir::Operation*, Types>(op)
      .Case([](chlo::RaggedDotOp dot) { return one(dot, dot.resultExtents()); })
      .Case([](stablehlo::ConvolutionOp convolution) { return convolved(convolution); })
      .Case([](stablehlo::ReduceWindowOp window) { return windowed(window); })
      .Case([](stablehlo::ReduceOp reduce) { return reduced(reduce); })
      .Case([](stablehlo::DotOp dot) { return multiplied(dot); })
      .Case([](stablehlo::BitcastConvertOp convert) { return reinterpreted(convert); })
      .Case<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::ReduceScatterOp>(
          [](auto collective) { return collected(collective); })
      .Case([](sdy::ManualComputationOp manual) { return joined(manual); })
      .Case([](sdy::NamedComputationOp named) {
        return Types(named.getBody().front().getTerminator()->getOperandTypes());
      })
      .Case([](stablehlo::DotGeneralOp dot) {
        return one(dot, stablehlo::DotGeneralOp::resultExtents(
                            stablehlo::extentsOf(tensorType(dot.getLhs())),
                            stablehlo::extentsOf(tensorType(dot.getRhs())),
                            dot.getDotDimensionNumbers()));
      })
      .Case([](ir::QuantizeOp quantize) {
        return Types{
            quantize.getResult().getType().withShape(tensorType(quantize.getOperand()).getShape())};
      })
      .Case([](ir::DequantizeOp dequantize) {
        return Types{
            dequantize.getResult().getType().clone(dequantize.getOperand().getType().getShape())};
      })
      .Case([](ir::PackOp pack) {
        return Types{
            pack.getResult().getType().withShape(tensorType(pack.getElements()).getShape())};
      })
      .Case([](ir::UnpackOp unpack) { return unpack.getOperand().getType().getPartTypes(); })
      .Case([](ir::DotGeneralOp dot) { return Types{dot.inferredResult()}; })
      .Case([](ir::RowsOfGroupsOp rows) { return Types{rows.inferredResult()}; })
      .Case([](ir::FusedDotOp fused) {
        return Types(fused.getBody().front().getTerminator()->getOperandTypes());
      })
      .Case<ir::ConvertOp, stablehlo::ConvertOp, stablehlo::MapOp, stablehlo::ScatterOp,
            stablehlo::SelectAndScatterOp, stablehlo::SortOp, stablehlo::AllReduceOp,
            stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
            stablehlo::CollectiveReduceOp, stablehlo::CrossReplicaSumOp>(
          [](mlir::Operation* same) { return shapesOfOperands(same); })
      .Default([](mlir::Operation*) { return Types(); });
}

} // namespace octavo::transforms
