// Which operation of a function a backend computes otherwise than the reference.
#pragma once

#include "octavo/Execution/Executable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::backends {

struct Deviation {
  std::string operation, location;
  execution::Value expected, found; ///< the result that does not fit
};

/// The first operation of a function's body of which the backend gives a result that does not fit
/// the reference's, both on the operands that the reference has found: an operation that only hands
/// on what came before it is not named. Regions and calls are one operation. The function is run by
/// one process. Errors: those of either backend.
llvm::Expected<std::optional<Deviation>> firstDeviation(
    mlir::func::FuncOp function, const std::vector<execution::Value>& arguments,
    const execution::Backend& backend, const execution::Host& host,
    llvm::function_ref<bool(const execution::Value& expected, const execution::Value& found)> fits);

} // namespace octavo::backends
