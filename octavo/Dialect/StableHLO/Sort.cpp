// Sort family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Sort.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Sort.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;

void StableHLODialect::registerSort() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Sort.cpp.inc"
      >();
}

LogicalResult SortOp::verify() {
  const Checker check(*this);
  if (getInputs().empty())
    return check.violated("C1", "there must be at least one input");
  if (!areCompatible(getInputs().getTypes(), getResultTypes()))
    return check.violated("C2", "the results must have the inputs' types, ", getInputs().getTypes(),
                          "; found ", getResultTypes());
  const auto first = llvm::cast<mlir::RankedTensorType>(getInputs().front().getType());
  for (auto [k, input] : llvm::enumerate(getInputs()))
    if (const auto type = llvm::cast<mlir::RankedTensorType>(input.getType());
        !isCompatibleShape(type, first))
      return check.violated("C3", "inputs must have one shape; input ", k, " has ",
                            spell(extentsOf(type)), ", input 0 has ", spell(extentsOf(first)));
  const auto dimension = static_cast<std::int64_t>(getDimension());
  if (dimension < -first.getRank() || dimension >= first.getRank())
    return check.violated("C4", "dimension must be in [", -first.getRank(), ", ", first.getRank(),
                          "), the axes of the inputs; found ", dimension);
  return mlir::success();
}

LogicalResult SortOp::verifyRegions() {
  const Checker check(*this);
  mlir::Block& block = getComparator().front();
  llvm::SmallVector<mlir::Type> expected;
  for (mlir::Type type : getInputs().getTypes())
    expected.append(2, mlir::RankedTensorType::get(
                           {}, llvm::cast<mlir::RankedTensorType>(type).getElementType()));
  if (block.getArgumentTypes() != mlir::TypeRange(expected))
    return check.violated("C5", "the comparator must take two scalars of each input, ",
                          mlir::TypeRange(expected), "; it takes ",
                          mlir::TypeRange(block.getArgumentTypes()));
  const mlir::TypeRange returned = block.getTerminator()->getOperandTypes();
  if (returned.size() != 1 || !isScalarTensor(returned.front()) ||
      !isBoolean(llvm::cast<mlir::RankedTensorType>(returned.front()).getElementType()))
    return check.violated("C5", "the comparator must return tensor<i1>; found ", returned);
  return mlir::success();
}

} // namespace octavo::stablehlo
