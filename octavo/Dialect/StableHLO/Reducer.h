// Verifies the bodies of reductions, windows and scatters, which are functions on scalars.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"

#include "mlir/IR/Region.h"

namespace octavo::stablehlo {

/// Verifies that `body` takes, for each input, a running value and an element (all running values
/// first) and returns the new running values. For each input these are scalars of one type. It must
/// hold the input's elements (`rule`) and be the result's element type (`resultRule`). `inputs` and
/// `results` are tensor types, equally many.
llvm::LogicalResult verifyReducer(mlir::Operation* op, mlir::Region& body, mlir::TypeRange inputs,
                                  mlir::TypeRange results, llvm::StringRef rule,
                                  llvm::StringRef resultRule);

} // namespace octavo::stablehlo
