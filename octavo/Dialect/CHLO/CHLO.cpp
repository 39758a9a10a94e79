#include "octavo/Dialect/CHLO/CHLO.h"

#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/TypeUtilities.h"

#include "octavo/Dialect/CHLO/CHLODialect.cpp.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/CHLO/CHLO.cpp.inc"

namespace octavo::chlo {

void CHLODialect::initialize() {
  addInterfaces<InlineEverything>();
  registerAttributes();
  allowUnknownOperations(); // so that verifyHasOperations can name them
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/CHLO/CHLO.cpp.inc"
      >();
}

std::optional<mlir::Dialect::ParseOpHook>
CHLODialect::getParseOperationHook(llvm::StringRef) const {
  return ParseOpHook(refuseCustomForm);
}

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

llvm::LogicalResult BroadcastCompareOp::verify() {
  const ComparisonType type = getCompareType().value_or(ComparisonType::NOTYPE);
  const mlir::Type element = getLhs().getType().getElementType();
  const bool isInteger = llvm::isa<mlir::IntegerType>(element);
  const bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  const ComparisonType natural = !isInteger   ? ComparisonType::FLOAT
                                 : isUnsigned ? ComparisonType::UNSIGNED
                                              : ComparisonType::SIGNED;
  const bool isFloat = llvm::isa<mlir::FloatType>(element);
  if (type != ComparisonType::NOTYPE && type != natural &&
      !(isFloat && type == ComparisonType::TOTALORDER))
    return emitOpError("elements of type ")
           << element << " are compared as " << stringifyComparisonType(natural)
           << (isFloat ? " or TOTALORDER" : "") << "; found " << stringifyComparisonType(type);
  return mlir::success();
}

llvm::LogicalResult BroadcastComplexOp::verify() {
  const mlir::Type part =
      llvm::cast<mlir::ComplexType>(getType().getElementType()).getElementType();
  if (part != getLhs().getType().getElementType())
    return emitOpError("the result must have parts of the operands' type, ")
           << getLhs().getType().getElementType() << "; found " << part;
  return mlir::success();
}

llvm::LogicalResult BroadcastSelectOp::verify() {
  llvm::Expected<Shape> shape =
      broadcastShape({getPred().getType().getShape(), getOnTrue().getType().getShape(),
                      getOnFalse().getType().getShape()});
  if (!shape)
    return emitOpError(llvm::toString(shape.takeError()));
  return verifyBroadcastResult(*this, *shape);
}

llvm::LogicalResult ConstantLikeOp::verify() {
  const mlir::Type element = getType().getElementType();
  if (getValue().getType() != element)
    return emitOpError("value must have the element type of the result, ")
           << element << "; found " << getValue().getType();
  if (!llvm::isa<mlir::IntegerAttr, mlir::FloatAttr, mlir::complex::NumberAttr>(getValue()))
    return emitOpError("value must be a number; found ") << getValue();
  return mlir::success();
}

void TopKOp::getAsmResultNames(mlir::OpAsmSetValueNameFn setName) {
  setName(getValues(), "values");
  setName(getIndices(), "indices");
}

llvm::LogicalResult
TopKOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> location,
                         mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                         mlir::OpaqueProperties properties, mlir::RegionRange regions,
                         llvm::SmallVectorImpl<mlir::Type>& types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  const auto operand = llvm::cast<mlir::RankedTensorType>(adaptor.getOperand().getType());
  const auto k = static_cast<std::int64_t>(adaptor.getK());
  if (operand.getRank() == 0)
    return mlir::emitOptionalError(location, "'chlo.top_k' op operand must have an axis; found ",
                                   operand);
  llvm::SmallVector<std::int64_t> shape(operand.getShape());
  if (k < 0 || (!mlir::ShapedType::isDynamic(shape.back()) && k > shape.back()))
    return mlir::emitOptionalError(location, "'chlo.top_k' op k must be in [0, ", shape.back(),
                                   "], the extent of the last axis; found ", k);
  shape.back() = k;
  types.push_back(mlir::RankedTensorType::get(shape, operand.getElementType()));
  types.push_back(mlir::RankedTensorType::get(shape, mlir::IntegerType::get(context, 32)));
  return mlir::success();
}

} // namespace octavo::chlo
