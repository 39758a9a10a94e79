// octavo.dot_general: its text, and its verifier, constraints (G1) to (G4) of Octavo.td.
#include "octavo/Dialect/Octavo/Assembly.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::ir {

using Axes = llvm::SmallVector<std::int64_t>;

static mlir::ParseResult parseAxes(mlir::OpAsmParser& parser, Axes& axes) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(axes.emplace_back()); });
}

/// `= [0] x [1]`
static mlir::ParseResult parsePairs(mlir::OpAsmParser& parser, Axes& lhs, Axes& rhs) {
  return mlir::failure(parser.parseEqual() || parseAxes(parser, lhs) || parser.parseKeyword("x") ||
                       parseAxes(parser, rhs));
}

mlir::ParseResult parseScaledDot(mlir::OpAsmParser& parser,
                                 stablehlo::DotDimensionNumbersAttr& dimensions,
                                 mlir::TypeAttr& accumulation) {
  Axes lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePairs(parser, lhsBatching, rhsBatching) || parser.parseComma()))
    return mlir::failure();
  if (parser.parseKeyword("contracting_dims") || parsePairs(parser, lhsContracting, rhsContracting))
    return mlir::failure();
  if (succeeded(parser.parseOptionalComma())) {
    mlir::Type type;
    if (parser.parseKeyword("accumulation") || parser.parseEqual() || parser.parseType(type))
      return mlir::failure();
    accumulation = mlir::TypeAttr::get(type);
  }
  dimensions = stablehlo::DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching,
                                                       rhsBatching, lhsContracting, rhsContracting);
  return mlir::success();
}

static void printPairs(mlir::OpAsmPrinter& printer, llvm::ArrayRef<std::int64_t> lhs,
                       llvm::ArrayRef<std::int64_t> rhs) {
  printer << " = [";
  llvm::interleaveComma(lhs, printer);
  printer << "] x [";
  llvm::interleaveComma(rhs, printer);
  printer << "]";
}

void printScaledDot(mlir::OpAsmPrinter& printer, mlir::Operation*,
                    stablehlo::DotDimensionNumbersAttr dimensions, mlir::TypeAttr accumulation) {
  const auto lhsBatching = dimensions.getLhsBatchingDimensions();
  const auto rhsBatching = dimensions.getRhsBatchingDimensions();
  if (!lhsBatching.empty() || !rhsBatching.empty()) {
    printer << "batching_dims";
    printPairs(printer, lhsBatching, rhsBatching);
    printer << ", ";
  }
  printer << "contracting_dims";
  printPairs(printer, dimensions.getLhsContractingDimensions(),
             dimensions.getRhsContractingDimensions());
  if (accumulation)
    printer << ", accumulation = " << accumulation.getValue();
}

static llvm::ArrayRef<std::int64_t> shapeOf(mlir::Type side) {
  if (const auto scaled = llvm::dyn_cast<ScaledType>(side))
    return scaled.getShape();
  return llvm::cast<mlir::RankedTensorType>(side).getShape();
}

/// (G1)
static mlir::LogicalResult verifySides(DotGeneralOp op) {
  bool hasScaled = false;
  for (mlir::Type side : op.getOperandTypes()) {
    if (llvm::isa<ScaledType>(side)) {
      hasScaled = true;
      continue;
    }
    const auto tensor = llvm::cast<mlir::RankedTensorType>(side);
    const mlir::Type element = tensor.getElementType();
    if (!element.isF32() && !element.isBF16() && !element.isF16())
      return op.emitOpError()
             << "(G1) a side that is not scaled must be of f32, bf16 or f16, found " << side;
  }
  if (!hasScaled)
    return op.emitOpError() << "(G1) has no scaled side; write stablehlo.dot_general";
  return mlir::success();
}

/// (G2), for the axes of one side.
static mlir::LogicalResult verifyAxes(DotGeneralOp op, llvm::StringRef side,
                                      llvm::ArrayRef<std::int64_t> shape,
                                      llvm::ArrayRef<std::int64_t> batching,
                                      llvm::ArrayRef<std::int64_t> contracting) {
  llvm::SmallVector<bool> named(shape.size());
  for (std::int64_t axis : llvm::concat<const std::int64_t>(batching, contracting)) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
      return op.emitOpError() << "(G2) axis " << axis << " is not one of the " << shape.size()
                              << " axes of the " << side << " side";
    if (named[axis])
      return op.emitOpError() << "(G2) axis " << axis << " of the " << side
                              << " side is named twice";
    named[axis] = true;
  }
  return mlir::success();
}

/// (G2), for paired axes.
static mlir::LogicalResult verifyPairs(DotGeneralOp op, llvm::StringRef kind,
                                       llvm::ArrayRef<std::int64_t> lhs,
                                       llvm::ArrayRef<std::int64_t> rhs) {
  if (lhs.size() != rhs.size())
    return op.emitOpError() << "(G2) names " << lhs.size() << " " << kind
                            << " axes on the left side and " << rhs.size() << " on the right";
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    const std::int64_t leftExtent = shapeOf(op.getLhs().getType())[left];
    const std::int64_t rightExtent = shapeOf(op.getRhs().getType())[right];
    if (failed(mlir::verifyCompatibleShape({leftExtent}, {rightExtent})))
      return op.emitOpError() << "(G2) " << kind << " axes " << left << " and " << right
                              << " have extents " << leftExtent << " and " << rightExtent
                              << ", which must be equal";
  }
  return mlir::success();
}

mlir::RankedTensorType DotGeneralOp::inferredResult() {
  const mlir::Type element = getResult().getType().getElementType();
  const auto extents = [&](mlir::Type side) {
    const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(side);
    return stablehlo::extentsOf(tensor ? tensor
                                       : mlir::RankedTensorType::get(shapeOf(side), element));
  };
  return stablehlo::tensorOf(stablehlo::DotGeneralOp::resultExtents(extents(getLhs().getType()),
                                                                    extents(getRhs().getType()),
                                                                    getDotDimensionNumbers()),
                             element);
}

mlir::LogicalResult DotGeneralOp::verify() {
  if (failed(verifySides(*this)))
    return mlir::failure();
  const stablehlo::DotDimensionNumbersAttr dimensions = getDotDimensionNumbers();
  const auto lhsBatching = dimensions.getLhsBatchingDimensions();
  const auto rhsBatching = dimensions.getRhsBatchingDimensions();
  const auto lhsContracting = dimensions.getLhsContractingDimensions();
  const auto rhsContracting = dimensions.getRhsContractingDimensions();
  const llvm::ArrayRef<std::int64_t> lhs = shapeOf(getLhs().getType());
  const llvm::ArrayRef<std::int64_t> rhs = shapeOf(getRhs().getType());
  if (failed(verifyAxes(*this, "left", lhs, lhsBatching, lhsContracting)) ||
      failed(verifyAxes(*this, "right", rhs, rhsBatching, rhsContracting)) ||
      failed(verifyPairs(*this, "batching", lhsBatching, rhsBatching)) ||
      failed(verifyPairs(*this, "contracting", lhsContracting, rhsContracting)))
    return mlir::failure();

  const mlir::Type expected = inferredResult();
  if (!stablehlo::isCompatible(getResult().getType(), expected))
    return emitOpError() << "(G3) the result must have shape " << expected << ", found "
                         << getResult().getType();
  if (const std::optional<mlir::Type> type = getAccumulation(); type && !type->isF32())
    return emitOpError() << "(G4) accumulates in f32, the one type that OCP MX 6.2 gives; found "
                         << *type;
  return mlir::success();
}

} // namespace octavo::ir
