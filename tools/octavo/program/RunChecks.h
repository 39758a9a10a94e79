// `octavo run` of a program that checks itself.
#pragma once

#include "octavo/Execution/Executable.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace octavo::tools {

enum class ReportFormat { Text, Json };

/// Runs every function of the program that checks itself, prints how each went, and throws
/// CommandError where a check failed or a function could not be evaluated.
void runChecks(mlir::ModuleOp program, const std::string& path, const execution::Backend& backend,
               ReportFormat format);

} // namespace octavo::tools
