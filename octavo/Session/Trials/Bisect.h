// Which operation of a function a backend computes otherwise than the reference.
#pragma once

#include "octavo/Program/Values/Executable.h"
#include "octavo/Session/Backends.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::session {

struct Deviation {
  std::string operation, location;
  program::Value expected, found; ///< the result that does not fit
};

/// The first operation of a function's body of which the backend gives a result that does not fit
/// the reference's, both on the operands that the reference has found: an operation that only hands
/// on what came before it is not named. Regions and calls are one operation. The function is run by
/// one process. Errors: those of either backend.
llvm::Expected<std::optional<Deviation>> firstDeviation(
    mlir::func::FuncOp function, const std::vector<program::Value>& arguments,
    const Backend& backend, const program::RunContext& host,
    llvm::function_ref<bool(const program::Value& expected, const program::Value& found)> fits);

} // namespace octavo::session
