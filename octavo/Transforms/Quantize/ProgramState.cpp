#include "octavo/Transforms/Quantize/ProgramState.h"

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

mlir::BlockArgument appendState(mlir::func::FuncOp function, llvm::StringRef name,
                                mlir::RankedTensorType type) {
  mlir::Builder builder(function.getContext());
  const unsigned index = function.getNumArguments();
  static_cast<void>(
      function.insertArgument(index, type,
                              builder.getDictionaryAttr(builder.getNamedAttr(
                                  ir::OctavoDialect::kName, builder.getStringAttr(name))),
                              function.getLoc()));
  return function.getArgument(index);
}

void returnState(mlir::BlockArgument argument, mlir::Value next) {
  auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  mlir::Builder builder(function.getContext());
  const unsigned index = function.getNumResults();
  function.getBody().front().getTerminator()->insertOperands(index, next);
  llvm::SmallVector<mlir::Type> results(function.getResultTypes());
  results.push_back(next.getType());
  function.setType(
      builder.getFunctionType(llvm::to_vector(argument.getOwner()->getArgumentTypes()), results));
  function.setArgAttr(argument.getArgNumber(), "tf.aliasing_output",
                      builder.getI32IntegerAttr(static_cast<int>(index)));
  function.setResultAttr(index, "jax.result_info",
                         function.getArgAttr(argument.getArgNumber(), ir::OctavoDialect::kName));
}

} // namespace octavo::transforms
