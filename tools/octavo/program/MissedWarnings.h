// Warnings of dots that look narrow and are not.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace octavo::tools {

/// Prints a line on stderr for each reason for which dots of a function, or of all, multiply wide
/// values though narrow ones are behind them. `program` stands for it in the lines. Throws
/// CommandError (CheckFailed) after the lines, where there are any, if `fails`.
void warnOfMissedDots(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                      bool fails);

} // namespace octavo::tools
