// Finds the operation that a backend computes differently from the reference.
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

/// An operation with a differing result, and both results.
struct Deviation {
  std::string operation, location;
  program::Value expected, found; ///< the differing result
};

/// The first operation in a function's body whose result on the backend does not fit that of the
/// reference. Both evaluate it on the reference's operands, so an operation that only passes on an
/// earlier difference is not reported. An operation with regions, and a call, count as one
/// operation. The function must be for one process. Errors are those of either backend.
llvm::Expected<std::optional<Deviation>> firstDeviation(
    mlir::func::FuncOp function, const std::vector<program::Value>& arguments,
    const Backend& backend, const program::RunContext& host,
    llvm::function_ref<bool(const program::Value& expected, const program::Value& found)> fits);

} // namespace octavo::session
