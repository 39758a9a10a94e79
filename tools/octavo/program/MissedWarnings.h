// Warnings of what became of a program's dots and caches.
#pragma once

#include "octavo/Transforms/Recover/MissedDots.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace octavo::tools {

/// Prints lines as warnings on stderr; `program` stands for it in them.
void warnOf(const std::vector<std::string>& lines, const std::string& program);

/// Prints a line on stderr for each reason for which dots multiply wide values though narrow ones
/// are behind them. `program` stands for it in the lines. Throws CommandError (CheckFailed) after
/// the lines, where there are any, if `fails`.
void warnOfMissedDots(const std::vector<transforms::MissedDots>& groups, const std::string& program,
                      bool fails);

/// The same of the dots of a function, or of all.
void warnOfMissedDots(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                      bool fails);

/// What a user should know before a function runs: scatters that XLA computes otherwise, then its
/// missed dots.
void warnOfProgram(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                   bool failsOnMissed);

/// Adds --fail-on-missed, which sets `fails`.
void addFailOnMissed(CLI::App& command, bool& fails);

} // namespace octavo::tools
