// `octavo run` of a self-checking program.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Program/Values/Executable.h"
#include "octavo/Session/Backends.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace octavo::tools {

/// How results are printed.
enum class ReportFormat { Text, Json };

/// Runs every self-checking function of the program and prints the outcome of each. Throws
/// CommandError if a check failed or a function could not be evaluated.
void runChecks(mlir::ModuleOp program, const std::string& path, const session::Backend& backend,
               const program::RunContext& host, ReportFormat format);

/// The exit code if a program could not be evaluated to its end: by a fault of the program, or
/// because it was interrupted.
ExitCode evaluationFailed();

} // namespace octavo::tools
