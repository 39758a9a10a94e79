#include "octavo/Dialect/StableHLO/Reducer.h"

namespace octavo::stablehlo {

using mlir::RankedTensorType;

llvm::LogicalResult verifyReducer(mlir::Operation* op, mlir::Region& body, mlir::TypeRange inputs,
                                  mlir::TypeRange results, llvm::StringRef rule,
                                  llvm::StringRef resultRule) {
  const Checker check(op);
  mlir::Block& block = body.front();
  const std::size_t count = inputs.size();
  if (block.getNumArguments() != 2 * count)
    return check.violated(rule, "the body must take ", 2 * count,
                          " arguments, a running value and an element for each input; found ",
                          block.getNumArguments());
  const mlir::OperandRange returned = block.getTerminator()->getOperands();
  if (returned.size() != count)
    return check.violated(rule, "the body must return ", count, " values; found ", returned.size());
  for (std::size_t k = 0; k < count; ++k) {
    const mlir::Type input = llvm::cast<RankedTensorType>(inputs[k]).getElementType();
    const mlir::Type result = llvm::cast<RankedTensorType>(results[k]).getElementType();
    const auto running =
        llvm::dyn_cast<RankedTensorType>(block.getArgument(static_cast<unsigned>(k)).getType());
    const mlir::Type element = block.getArgument(static_cast<unsigned>(count + k)).getType();
    if (!running || running.getRank() != 0 || element != running ||
        returned[static_cast<unsigned>(k)].getType() != running)
      return check.violated(rule, "for input ", k,
                            " the body's two arguments and its result must have one scalar "
                            "type; found ",
                            block.getArgument(static_cast<unsigned>(k)).getType(), ", ", element,
                            " and ", returned[static_cast<unsigned>(k)].getType());
    if (!isPromotable(input, running.getElementType()))
      return check.violated(rule, "the body's type ", running, " must hold the elements of input ",
                            k, ", ", input);
    if (result != running.getElementType())
      return check.violated(resultRule, "result ", k, " must have the body's element type ",
                            running.getElementType(), "; found ", result);
  }
  return mlir::success();
}

} // namespace octavo::stablehlo
