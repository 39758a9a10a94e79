// Indexing family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"
#include "octavo/Dialect/StableHLO/Gather.h"
#include "octavo/Dialect/StableHLO/Reducer.h"

#include "llvm/ADT/STLExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Indexing.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Indices = llvm::ArrayRef<std::int64_t>;

void StableHLODialect::registerIndexing() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Indexing.cpp.inc"
      >();
}

mlir::Attribute ScatterDimensionNumbersAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  IndexList window, inserted, batching, indicesBatching, toOperand;
  std::int64_t indexVectorDim = 0;
  if (parseFields(parser, Presence::Optional,
                  {{"update_window_dims", window},
                   {"inserted_window_dims", inserted},
                   {"input_batching_dims", batching},
                   {"scatter_indices_batching_dims", indicesBatching},
                   {"scatter_dims_to_operand_dims", toOperand},
                   {"index_vector_dim", indexVectorDim}}))
    return {};
  return get(parser.getContext(), window, inserted, batching, indicesBatching, toOperand,
             indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter(printer)
      .optional("update_window_dims", getUpdateWindowDims())
      .optional("inserted_window_dims", getInsertedWindowDims())
      .optional("input_batching_dims", getInputBatchingDims())
      .optional("scatter_indices_batching_dims", getScatterIndicesBatchingDims())
      .optional("scatter_dims_to_operand_dims", getScatterDimsToOperandDims())
      .optional("index_vector_dim", getIndexVectorDim());
}

LogicalResult GatherOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                         Types& types) {
  static constexpr GatherRules kRules{.rank = "C1",
                                      .indexVectorDim = "C2",
                                      .startIndexMap = "C3",
                                      .offsetOrder = "C4",
                                      .offsetInside = "C5",
                                      .dropped = "C6",
                                      .collapsedOrder = "C7",
                                      .collapsedInside = "C8",
                                      .collapsedSize = "C9",
                                      .batchingOrder = "C10",
                                      .batchingInside = "C11",
                                      .batchingSize = "C12",
                                      .startBatchingUnique = "C13",
                                      .startBatchingInside = "C14",
                                      .startBatchingVector = "C15",
                                      .batchingCount = "C16",
                                      .batchingExtents = "C17",
                                      .mapUnique = "C18",
                                      .mapInside = "C19",
                                      .sliceCount = "C20",
                                      .sliceSizes = "C21"};
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::FailureOr<Extents> shape = inferGather(
      Checker(location, getOperationName()), kRules, operand, tensorType(adaptor.getStartIndices()),
      adaptor.getDimensionNumbers(), knownExtents(adaptor.getSliceSizes()));
  if (failed(shape))
    return mlir::failure();
  types.push_back(tensorOf(*shape, operand.getElementType()));
  return mlir::success();
}

namespace {

/// Verifies that there is one start index for each axis of the operand, all of one type.
LogicalResult verifyStarts(const Checker& check, mlir::ValueRange starts, std::int64_t rank,
                           llvm::StringRef countRule, llvm::StringRef typeRule) {
  if (static_cast<std::int64_t>(starts.size()) != rank)
    return check.violated(countRule, "there must be one start index for each of the operand's ",
                          rank, " axes; found ", starts.size());
  for (mlir::Value start : starts)
    if (start.getType() != starts.front().getType())
      return check.violated(typeRule, "start indices must have one type; found ",
                            starts.front().getType(), " and ", start.getType());
  return mlir::success();
}

} // namespace

LogicalResult DynamicSliceOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                               Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const Indices sizes = adaptor.getSliceSizes();
  if (failed(verifyStarts(check, adaptor.getStartIndices(), operand.getRank(), "C2", "C3")) ||
      failed(check.oneEach("C2", "slice_sizes", sizes, operand.getRank(), "axes of the operand")))
    return mlir::failure();
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand)))
    if (sizes[axis] < 0 || (extent.largest() && sizes[axis] > *extent.largest()))
      return check.violated("C4", "slice_sizes must be in [0, ",
                            extent.largest() ? std::to_string(*extent.largest()) : "?",
                            "] on axis ", axis, "; found ", sizes[axis]);
  types.push_back(RankedTensorType::get(sizes, operand.getElementType()));
  return mlir::success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                     Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const RankedTensorType update = tensorType(adaptor.getUpdate());
  if (update.getElementType() != operand.getElementType())
    return check.violated("C2", "update must have the operand's element type ",
                          operand.getElementType(), "; found ", update.getElementType());
  if (update.getRank() != operand.getRank())
    return check.violated("C3", "update must have the operand's rank ", operand.getRank(),
                          "; found ", update.getRank());
  if (failed(verifyStarts(check, adaptor.getStartIndices(), operand.getRank(), "C4", "C5")))
    return mlir::failure();
  for (auto [axis, pair] : llvm::enumerate(llvm::zip(extentsOf(update), extentsOf(operand)))) {
    const auto [size, extent] = pair;
    if (size.isKnown() && extent.largest() && *size.largest() > *extent.largest())
      return check.violated("C6", "update must fit into the operand; on axis ", axis, " it has ",
                            size.spell(), ", the operand ", extent.spell());
  }
  types.push_back(operand);
  return mlir::success();
}

LogicalResult TorchIndexSelectOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                   Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const RankedTensorType index = tensorType(adaptor.getIndex());
  const auto dim = static_cast<std::int64_t>(adaptor.getDim());
  const auto batch = static_cast<std::int64_t>(adaptor.getBatchDims());
  if (failed(check.inside("I3", "dim", {dim}, operand.getRank(), "the operand")))
    return mlir::failure();
  if (batch < 0 || batch > std::min(dim, index.getRank()))
    return check.violated("I4", "batch_dims must be in [0, ", std::min(dim, index.getRank()),
                          "], axes before dim that operand and index have; found ", batch);
  const Extents from = extentsOf(operand), places = extentsOf(index);
  for (std::int64_t axis = 0; axis < batch; ++axis)
    if (!from[axis].isCompatible(places[axis]))
      return check.violated("I2", "operand and index must have one extent on batch axis ", axis,
                            "; found ", from[axis].spell(), " and ", places[axis].spell());
  Extents shape(from.begin(), from.begin() + dim);
  shape.append(places.begin() + batch, places.end());
  shape.append(from.begin() + dim + 1, from.end());
  types.push_back(tensorOf(shape, operand.getElementType()));
  return mlir::success();
}

namespace {

/// C4: verifies the shape of the updates against the input and the indices.
LogicalResult verifyUpdateShape(const Checker& check, ScatterDimensionNumbersAttr numbers,
                                RankedTensorType input, RankedTensorType indices,
                                RankedTensorType update) {
  const Indices window = numbers.getUpdateWindowDims();
  Extents windowBounds, scatter = extentsOf(indices);
  for (auto [axis, extent] : llvm::enumerate(extentsOf(input)))
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), static_cast<std::int64_t>(axis)) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), static_cast<std::int64_t>(axis)))
      windowBounds.push_back(extent);
  if (numbers.getIndexVectorDim() < indices.getRank())
    scatter.erase(scatter.begin() + numbers.getIndexVectorDim());
  if (update.getRank() != static_cast<std::int64_t>(window.size() + scatter.size()))
    return check.violated("C4", "updates must have ", window.size() + scatter.size(),
                          " axes, those of a window and those of scatter_indices without "
                          "index_vector_dim; found ",
                          update);
  const Extent* nextBound = windowBounds.begin();
  const Extent* nextScatter = scatter.begin();
  for (auto [axis, extent] : llvm::enumerate(extentsOf(update))) {
    if (llvm::is_contained(window, static_cast<std::int64_t>(axis))) {
      const Extent bound = *nextBound++;
      if (extent.isKnown() && bound.largest() && *extent.largest() > *bound.largest())
        return check.violated("C4", "a window must fit into the input; axis ", axis,
                              " of the updates has ", extent.spell(), ", the input ",
                              bound.spell());
    } else if (const Extent given = *nextScatter++; !given.isCompatible(extent)) {
      return check.violated("C4", "axis ", axis, " of the updates must have the extent ",
                            given.spell(), " of scatter_indices; found ", extent.spell());
    }
  }
  return mlir::success();
}

LogicalResult verifyScatterNumbers(const Checker& check, ScatterDimensionNumbersAttr numbers,
                                   RankedTensorType input, RankedTensorType indices,
                                   RankedTensorType update) {
  const Indices window = numbers.getUpdateWindowDims();
  const Indices inserted = numbers.getInsertedWindowDims();
  const Indices batching = numbers.getInputBatchingDims();
  const Indices map = numbers.getScatterDimsToOperandDims();
  const std::int64_t vectorDim = numbers.getIndexVectorDim();
  const std::int64_t rank = input.getRank();
  if (rank != static_cast<std::int64_t>(window.size() + inserted.size() + batching.size()))
    return check.violated("C2",
                          "update_window_dims, inserted_window_dims and input_batching_dims must "
                          "be as many as the input's ",
                          rank, " axes; found ", spell(window), ", ", spell(inserted), " and ",
                          spell(batching));
  if (failed(check.unique("C7", "update_window_dims", window)) ||
      failed(check.sorted("C7", "update_window_dims", window)) ||
      failed(check.inside("C8", "update_window_dims", window, update.getRank(), "the updates")) ||
      failed(check.unique("C9", "inserted_window_dims and input_batching_dims",
                          concatenated(inserted, batching))) ||
      failed(check.sorted("C10", "inserted_window_dims", inserted)) ||
      failed(check.inside("C11", "inserted_window_dims", inserted, rank, "the input")) ||
      failed(check.sorted("C12", "input_batching_dims", batching)) ||
      failed(check.inside("C13", "input_batching_dims", batching, rank, "the input")) ||
      failed(verifyIndexVector(check, "C22", "C19", "scatter_dims_to_operand_dims", map, vectorDim,
                               indices, "scatter_indices")) ||
      failed(verifyIndexBatching(check, {"C14", "C15", "C16", "C17", "C18"},
                                 {"input_batching_dims", "scatter_indices_batching_dims", batching,
                                  numbers.getScatterIndicesBatchingDims()},
                                 vectorDim, input, indices, "scatter_indices")) ||
      failed(check.unique("C20", "scatter_dims_to_operand_dims and input_batching_dims",
                          concatenated(map, batching))) ||
      failed(check.inside("C21", "scatter_dims_to_operand_dims", map, rank, "the input")))
    return mlir::failure();
  return verifyUpdateShape(check, numbers, input, indices, update);
}

} // namespace

LogicalResult ScatterOp::verify() {
  const Checker check(*this);
  const std::size_t count = getInputs().size();
  if (count == 0 || getNumOperands() != 2 * count + 1 || getNumResults() != count)
    return check.violated("C5",
                          "inputs, updates and results must be as many, and at least one; found ",
                          getNumOperands(), " operands and ", getNumResults(), " results");
  const RankedTensorType input = tensorType(getInputs().front());
  const RankedTensorType update = tensorType(getUpdates().front());
  for (std::size_t k = 0; k < count; ++k) {
    const RankedTensorType ours = tensorType(getInputs()[k]), theirs = tensorType(getUpdates()[k]);
    const auto result = llvm::cast<RankedTensorType>(getResult(k).getType());
    if (!isCompatibleShape(ours, input))
      return check.violated("C1", "inputs must have one shape; input ", k, " has ",
                            spell(extentsOf(ours)), ", input 0 has ", spell(extentsOf(input)));
    if (!isCompatibleShape(theirs, update))
      return check.violated("C3", "updates must have one shape; update ", k, " has ",
                            spell(extentsOf(theirs)), ", update 0 has ", spell(extentsOf(update)));
    if (ours.getElementType() != theirs.getElementType())
      return check.violated("C6", "update ", k, " must have the input's element type ",
                            ours.getElementType(), "; found ", theirs.getElementType());
    if (!isCompatibleShape(result, ours))
      return check.violated("C24", "result ", k, " must have the input's shape ",
                            spell(extentsOf(ours)), "; found ", spell(extentsOf(result)));
  }
  return verifyScatterNumbers(check, getScatterDimensionNumbers(), input,
                              tensorType(getScatterIndices()), update);
}

LogicalResult ScatterOp::verifyRegions() {
  return verifyReducer(*this, getUpdateComputation(), getInputs().getTypes(), getResultTypes(),
                       "C23", "C25");
}

} // namespace octavo::stablehlo
