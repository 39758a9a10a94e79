// Warnings about dots and caches of a program that are not narrow.
#pragma once

#include "octavo/Transforms/Recover/MissedDots.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace octavo::tools {

/// Prints `lines` as warnings on stderr, with `program` as the program's name.
void warnOf(const std::vector<std::string>& lines, const std::string& program);

/// Prints a line on stderr for each reason why dots multiply wide values that come from narrow
/// ones. `program` is the program's name. If there are any and `fails`, throws CommandError
/// (CheckFailed) afterwards.
void warnOfMissedDots(const std::vector<transforms::MissedDots>& groups, const std::string& program,
                      bool fails);

/// The same for the dots of a function; of all functions if `function` is empty.
void warnOfMissedDots(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                      bool fails);

/// The warnings before a function runs: scatters that XLA computes differently, then missed dots.
void warnOfProgram(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                   bool failsOnMissed);

/// Adds --fail-on-missed, which sets `fails`.
void addFailOnMissed(CLI::App& command, bool& fails);

} // namespace octavo::tools
