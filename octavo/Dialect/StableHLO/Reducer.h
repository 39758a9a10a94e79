// The function on scalars that reductions, windows and scatters apply.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"

#include "mlir/IR/Region.h"

namespace octavo::stablehlo {

/// Checks that `body` takes a running value and an element for each of `inputs`, the running values
/// first, and gives new running values: scalars of one type for each, that hold the elements of the
/// input (`rule`) and are the elements of the result (`resultRule`). Inputs and results are
/// tensors, as many.
llvm::LogicalResult verifyReducer(mlir::Operation* op, mlir::Region& body, mlir::TypeRange inputs,
                                  mlir::TypeRange results, llvm::StringRef rule,
                                  llvm::StringRef resultRule);

} // namespace octavo::stablehlo
