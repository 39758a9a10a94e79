#include "octavo/Dialect/CHLO/CHLO.h"

#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/MissingNames.h"

#include "octavo/Dialect/CHLO/CHLODialect.cpp.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/CHLO/CHLO.cpp.inc"

namespace octavo::chlo {

void CHLODialect::initialize() {
  addInterfaces<InlineEverything>();
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

llvm::LogicalResult ConstantLikeOp::verify() {
  const mlir::Type element = getType().getElementType();
  if (getValue().getType() != element)
    return emitOpError("value must have the element type of the result, ")
           << element << "; found " << getValue().getType();
  if (!llvm::isa<mlir::IntegerAttr, mlir::FloatAttr>(getValue()))
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
