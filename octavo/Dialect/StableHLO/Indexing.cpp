// Indexing family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"

#include "llvm/ADT/STLExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Indexing.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Indices = llvm::ArrayRef<std::int64_t>;
using Location = std::optional<mlir::Location>;

void StableHLODialect::registerIndexing() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Indexing.cpp.inc"
      >();
}

mlir::Attribute GatherDimensionNumbersAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  IndexList offset, collapsed, operandBatching, startBatching, startMap;
  std::int64_t indexVectorDim = 0;
  if (parseFields(parser, Presence::Optional,
                  {{"offset_dims", offset},
                   {"collapsed_slice_dims", collapsed},
                   {"operand_batching_dims", operandBatching},
                   {"start_indices_batching_dims", startBatching},
                   {"start_index_map", startMap},
                   {"index_vector_dim", indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, startBatching, startMap,
             indexVectorDim);
}

void GatherDimensionNumbersAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter(printer)
      .optional("offset_dims", getOffsetDims())
      .optional("collapsed_slice_dims", getCollapsedSliceDims())
      .optional("operand_batching_dims", getOperandBatchingDims())
      .optional("start_indices_batching_dims", getStartIndicesBatchingDims())
      .optional("start_index_map", getStartIndexMap())
      .optional("index_vector_dim", getIndexVectorDim());
}

namespace {

llvm::SmallVector<std::int64_t> concatenated(Indices a, Indices b) {
  llvm::SmallVector<std::int64_t> all(a);
  all.append(b.begin(), b.end());
  return all;
}

LogicalResult verifyUnique(Location location, llvm::StringRef rule, llvm::StringRef name,
                           Indices indices) {
  if (const auto repeated = firstRepeated(indices))
    return violates<GatherOp>(location, rule, name, " must be unique; found ", *repeated,
                              " twice in ", spell(indices));
  return mlir::success();
}

LogicalResult verifySorted(Location location, llvm::StringRef rule, llvm::StringRef name,
                           Indices indices) {
  if (!llvm::is_sorted(indices))
    return violates<GatherOp>(location, rule, name, " must be in ascending order; found ",
                              spell(indices));
  return mlir::success();
}

LogicalResult verifyInside(Location location, llvm::StringRef rule, llvm::StringRef name,
                           Indices indices, std::int64_t bound, llvm::StringRef whose) {
  if (const auto outside = firstOutside(indices, bound))
    return violates<GatherOp>(location, rule, name, " must be in [0, ", bound, "), the axes of ",
                              whose, "; found ", *outside);
  return mlir::success();
}

/// Axes whose slices the result does not show have slices of at most one element.
LogicalResult verifyDropped(Location location, llvm::StringRef rule, llvm::StringRef name,
                            Indices axes, Indices sliceSizes) {
  for (std::int64_t axis : axes)
    if (sliceSizes[axis] > 1)
      return violates<GatherOp>(location, rule, "slice_sizes must be at most 1 on axis ", axis,
                                ", which ", name, " names; found ", sliceSizes[axis]);
  return mlir::success();
}

LogicalResult verifyStartIndices(Location location, GatherDimensionNumbersAttr numbers,
                                 RankedTensorType operand, RankedTensorType starts) {
  const Indices startBatching = numbers.getStartIndicesBatchingDims();
  const Indices operandBatching = numbers.getOperandBatchingDims();
  const std::int64_t vectorDim = numbers.getIndexVectorDim();
  if (vectorDim < 0 || vectorDim > starts.getRank())
    return violates<GatherOp>(location, "C2", "index_vector_dim must be in [0, ", starts.getRank(),
                              "], the rank of start_indices included; found ", vectorDim);
  const Extents startExtents = extentsOf(starts), operandExtents = extentsOf(operand);
  const Extent length = vectorDim < starts.getRank() ? startExtents[vectorDim] : Extent::known(1);
  const auto mapped = static_cast<std::int64_t>(numbers.getStartIndexMap().size());
  if (!length.isCompatible(Extent::known(mapped)))
    return violates<GatherOp>(
        location, "C3", "start_index_map must have one entry for each of the ", length.spell(),
        " numbers of an index vector; found ", spell(numbers.getStartIndexMap()));
  if (failed(verifyUnique(location, "C13", "start_indices_batching_dims", startBatching)) ||
      failed(verifyInside(location, "C14", "start_indices_batching_dims", startBatching,
                          starts.getRank(), "start_indices")))
    return mlir::failure();
  if (llvm::is_contained(startBatching, vectorDim))
    return violates<GatherOp>(location, "C15", "index_vector_dim ", vectorDim,
                              " must not be in start_indices_batching_dims ", spell(startBatching));
  if (operandBatching.size() != startBatching.size())
    return violates<GatherOp>(location, "C16",
                              "operand_batching_dims and "
                              "start_indices_batching_dims must be as many; found ",
                              spell(operandBatching), " and ", spell(startBatching));
  for (auto [ours, theirs] : llvm::zip(operandBatching, startBatching))
    if (!operandExtents[ours].isCompatible(startExtents[theirs]))
      return violates<GatherOp>(location, "C17", "batching axes must have one extent: axis ", ours,
                                " of the operand has ", operandExtents[ours].spell(), ", axis ",
                                theirs, " of start_indices has ", startExtents[theirs].spell());
  return mlir::success();
}

} // namespace

LogicalResult GatherOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                         llvm::SmallVectorImpl<mlir::Type>& types) {
  const auto operand = llvm::cast<RankedTensorType>(adaptor.getOperand().getType());
  const auto starts = llvm::cast<RankedTensorType>(adaptor.getStartIndices().getType());
  const GatherDimensionNumbersAttr numbers = adaptor.getDimensionNumbers();
  const Indices offset = numbers.getOffsetDims();
  const Indices collapsed = numbers.getCollapsedSliceDims();
  const Indices batching = numbers.getOperandBatchingDims();
  const Indices sliceSizes = adaptor.getSliceSizes();
  const std::int64_t rank = operand.getRank();

  if (rank != static_cast<std::int64_t>(offset.size() + collapsed.size() + batching.size()))
    return violates<GatherOp>(location, "C1",
                              "offset_dims, collapsed_slice_dims and "
                              "operand_batching_dims must be as many as the operand's ",
                              rank, " axes; found ", spell(offset), ", ", spell(collapsed), " and ",
                              spell(batching));
  if (failed(verifyUnique(location, "C4", "offset_dims", offset)) ||
      failed(verifySorted(location, "C4", "offset_dims", offset)) ||
      failed(verifyUnique(location, "C6", "collapsed_slice_dims and operand_batching_dims",
                          concatenated(collapsed, batching))) ||
      failed(verifySorted(location, "C7", "collapsed_slice_dims", collapsed)) ||
      failed(
          verifyInside(location, "C8", "collapsed_slice_dims", collapsed, rank, "the operand")) ||
      failed(verifySorted(location, "C10", "operand_batching_dims", batching)) ||
      failed(
          verifyInside(location, "C11", "operand_batching_dims", batching, rank, "the operand")) ||
      failed(verifyStartIndices(location, numbers, operand, starts)) ||
      failed(verifyUnique(location, "C18", "start_index_map and operand_batching_dims",
                          concatenated(numbers.getStartIndexMap(), batching))) ||
      failed(verifyInside(location, "C19", "start_index_map", numbers.getStartIndexMap(), rank,
                          "the operand")))
    return mlir::failure();
  if (static_cast<std::int64_t>(sliceSizes.size()) != rank)
    return violates<GatherOp>(location, "C20",
                              "slice_sizes must have one entry for each of the "
                              "operand's ",
                              rank, " axes; found ", spell(sliceSizes));
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand)))
    if (sliceSizes[axis] < 0 || (extent.largest() && sliceSizes[axis] > *extent.largest()))
      return violates<GatherOp>(location, "C21", "slice_sizes must be in [0, ",
                                extent.largest() ? std::to_string(*extent.largest()) : "?",
                                "] on axis ", axis, "; found ", sliceSizes[axis]);
  if (failed(verifyDropped(location, "C9", "collapsed_slice_dims", collapsed, sliceSizes)) ||
      failed(verifyDropped(location, "C12", "operand_batching_dims", batching, sliceSizes)))
    return mlir::failure();

  Extents batchSizes = extentsOf(starts);
  if (numbers.getIndexVectorDim() < starts.getRank())
    batchSizes.erase(batchSizes.begin() + numbers.getIndexVectorDim());
  Extents offsetSizes;
  for (auto [axis, size] : llvm::enumerate(sliceSizes))
    if (!llvm::is_contained(collapsed, static_cast<std::int64_t>(axis)) &&
        !llvm::is_contained(batching, static_cast<std::int64_t>(axis)))
      offsetSizes.push_back(Extent::known(size));

  const auto resultRank = static_cast<std::int64_t>(batchSizes.size() + offsetSizes.size());
  if (failed(verifyInside(location, "C5", "offset_dims", offset, resultRank, "the result")))
    return mlir::failure();
  Extents shape;
  const Extent* nextBatch = batchSizes.begin();
  const Extent* nextOffset = offsetSizes.begin();
  for (std::int64_t axis = 0; axis < resultRank; ++axis)
    shape.push_back(llvm::is_contained(offset, axis) ? *nextOffset++ : *nextBatch++);
  types.push_back(tensorOf(shape, operand.getElementType()));
  return mlir::success();
}

} // namespace octavo::stablehlo
