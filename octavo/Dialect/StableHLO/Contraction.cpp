// Contraction family: verifiers.
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/StableHLO.h"

#include "llvm/ADT/STLExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Contraction.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Axes = llvm::ArrayRef<std::int64_t>;

void StableHLODialect::registerContraction() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Contraction.cpp.inc"
      >();
}

llvm::SmallVector<std::int64_t> DotGeneralOp::resultShape(Axes lhs, Axes rhs,
                                                          DotDimensionNumbersAttr dimensions) {
  llvm::SmallVector<std::int64_t> shape;
  for (std::int64_t axis : dimensions.getLhsBatchingDimensions())
    shape.push_back(lhs[axis]);
  const auto appendFree = [&](Axes extents, Axes batching, Axes contracting) {
    for (auto [axis, extent] : llvm::enumerate(extents))
      if (!llvm::is_contained(batching, static_cast<std::int64_t>(axis)) &&
          !llvm::is_contained(contracting, static_cast<std::int64_t>(axis)))
        shape.push_back(extent);
  };
  appendFree(lhs, dimensions.getLhsBatchingDimensions(), dimensions.getLhsContractingDimensions());
  appendFree(rhs, dimensions.getRhsBatchingDimensions(), dimensions.getRhsContractingDimensions());
  return shape;
}

namespace {

/// Axes of one operand: the batching and contracting ones together are unique and in range.
LogicalResult verifyAxes(mlir::Location location, llvm::StringRef side, RankedTensorType type,
                         Axes batching, Axes contracting, llvm::StringRef uniqueRule,
                         llvm::StringRef batchingRule, llvm::StringRef contractingRule) {
  llvm::SmallVector<std::int64_t> all(batching);
  all.append(contracting.begin(), contracting.end());
  if (const auto repeated = firstRepeated(all))
    return violates<DotGeneralOp>(location, uniqueRule, side, "_batching_dimensions ",
                                  spell(batching), " and ", side, "_contracting_dimensions ",
                                  spell(contracting), " must be unique; found ", *repeated,
                                  " twice");
  if (const auto outside = firstOutside(batching, type.getRank()))
    return violates<DotGeneralOp>(location, batchingRule, side,
                                  "_batching_dimensions must be in [0, ", type.getRank(),
                                  "), the axes of ", side, "; found ", *outside);
  if (const auto outside = firstOutside(contracting, type.getRank()))
    return violates<DotGeneralOp>(location, contractingRule, side,
                                  "_contracting_dimensions must be in [0, ", type.getRank(),
                                  "), the axes of ", side, "; found ", *outside);
  return mlir::success();
}

/// Axes that are paired have one extent.
LogicalResult verifyExtents(mlir::Location location, llvm::StringRef rule, llvm::StringRef kind,
                            RankedTensorType lhs, RankedTensorType rhs, Axes left, Axes right) {
  for (auto [l, r] : llvm::zip(left, right))
    if (lhs.getShape()[l] != rhs.getShape()[r])
      return violates<DotGeneralOp>(location, rule, kind, " axes must have one extent: axis ", l,
                                    " of lhs has ", lhs.getShape()[l], ", axis ", r, " of rhs has ",
                                    rhs.getShape()[r]);
  return mlir::success();
}

} // namespace

LogicalResult DotGeneralOp::verify() {
  const mlir::Location location = getLoc();
  const RankedTensorType lhs = getLhs().getType();
  const RankedTensorType rhs = getRhs().getType();
  const DotDimensionNumbersAttr dimensions = getDotDimensionNumbers();
  const Axes lhsBatching = dimensions.getLhsBatchingDimensions();
  const Axes rhsBatching = dimensions.getRhsBatchingDimensions();
  const Axes lhsContracting = dimensions.getLhsContractingDimensions();
  const Axes rhsContracting = dimensions.getRhsContractingDimensions();
  if (lhsBatching.size() != rhsBatching.size())
    return violates<DotGeneralOp>(location, "C1",
                                  "lhs and rhs must have as many batching "
                                  "dimensions; found ",
                                  spell(lhsBatching), " and ", spell(rhsBatching));
  if (lhsContracting.size() != rhsContracting.size())
    return violates<DotGeneralOp>(location, "C2",
                                  "lhs and rhs must have as many contracting "
                                  "dimensions; found ",
                                  spell(lhsContracting), " and ", spell(rhsContracting));
  if (failed(verifyAxes(location, "lhs", lhs, lhsBatching, lhsContracting, "C3", "C5", "C6")) ||
      failed(verifyAxes(location, "rhs", rhs, rhsBatching, rhsContracting, "C4", "C7", "C8")) ||
      failed(verifyExtents(location, "C9", "batching", lhs, rhs, lhsBatching, rhsBatching)) ||
      failed(
          verifyExtents(location, "C10", "contracting", lhs, rhs, lhsContracting, rhsContracting)))
    return mlir::failure();
  // An absent or empty configuration is that of two DEFAULTs.
  if (const auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return violates<DotGeneralOp>(location, "C11",
                                  "precision_config must have an entry for lhs and "
                                  "one for rhs; found ",
                                  precision->size());
  const llvm::SmallVector<std::int64_t> shape =
      resultShape(lhs.getShape(), rhs.getShape(), dimensions);
  if (getType().getShape() != llvm::ArrayRef(shape))
    return violates<DotGeneralOp>(location, "C12", "the result must have the shape ", spell(shape),
                                  "; found ", spell(getType().getShape()));
  const auto isDefault = [](PrecisionAttr entry) { return entry.getValue() == Precision::DEFAULT; };
  if (getAlgorithm() && getPrecisionConfig() &&
      !llvm::all_of(getPrecisionConfig()->getAsRange<PrecisionAttr>(), isDefault))
    return violates<DotGeneralOp>(location, "C21",
                                  "precision_config must be DEFAULT where there is an algorithm; "
                                  "found ",
                                  *getPrecisionConfig());
  // JAX multiplies float types of two kinds, as XLA does; only the kinds must agree.
  const mlir::Type left = lhs.getElementType();
  const mlir::Type right = rhs.getElementType();
  if (left != right && !(isFloat(left) && isFloat(right)) && !(isInteger(left) && isInteger(right)))
    return violates<DotGeneralOp>(location, "C13",
                                  "lhs and rhs must have one element type, or both "
                                  "float types, or both integer types; found ",
                                  left, " and ", right);
  return mlir::success();
}

} // namespace octavo::stablehlo
