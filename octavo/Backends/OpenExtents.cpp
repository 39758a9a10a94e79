#include "octavo/Backends/OpenExtents.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Transforms/RefineShapes.h"

#include "mlir/IR/BuiltinTypes.h"

namespace octavo::backends {

bool hasOpenExtents(mlir::func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(),
                      [](mlir::Type type) { return transforms::hasUnknownExtents(type); });
}

llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const execution::Value> values) {
  std::vector<mlir::Type> types(function.getArgumentTypes().begin(),
                                function.getArgumentTypes().end());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (transforms::hasUnknownExtents(types[i]))
      types[i] = mlir::RankedTensorType::get(
          values[i].tensor().shape, mlir::cast<mlir::RankedTensorType>(types[i]).getElementType());
  const Diagnostics diagnostics(*function.getContext());
  if (failed(transforms::refineShapes(function, types)))
    return llvm::createStringError(diagnostics.found());
  return llvm::Error::success();
}

} // namespace octavo::backends
