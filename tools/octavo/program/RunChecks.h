// `octavo run` of a program that checks itself.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Program/Values/Executable.h"
#include "octavo/Session/Backends.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace octavo::tools {

enum class ReportFormat { Text, Json };

/// Runs every function of the program that checks itself, prints how each went, and throws
/// CommandError where a check failed or a function could not be evaluated.
void runChecks(mlir::ModuleOp program, const std::string& path, const session::Backend& backend,
               const program::RunContext& host, ReportFormat format);

/// What a command exits with when a program could not be evaluated to its end: by a fault of the
/// program, or because it was interrupted.
ExitCode evaluationFailed();

} // namespace octavo::tools
