// Dots that look narrow and are not, for a warning of whoever runs or quantizes a program.
#pragma once

#include "octavo/Transforms/Recover/RecoverScaled.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// Dots that one kind of obstacle keeps wide.
struct MissedDots {
  std::vector<RecoveredDot> dots; ///< in the order of the program; at least one
  bool isRecovered = false;       ///< there is none: recoverScaled makes them narrow
  bool isOneSided = false;        ///< it keeps one side of them wide

  /// One line: how many, the first by name and place, its obstacle, and what to change.
  std::string text() const;
};

/// The missed dots of a report by their obstacles, in the order of the first of each.
std::vector<MissedDots> missedDots(const RecoverReport& report);

/// A line for each dot of a report that was recovered and has values that differ from the
/// program's: by name and place, which they are.
std::vector<std::string> differingDots(const RecoverReport& report);

/// How many dots they are: those that one side keeps wide may be recovered on the other, too.
std::size_t countDots(const std::vector<MissedDots>& groups);

/// The dots that multiply wide values though narrow ones are behind them, calls inlined: those that
/// recoverScaled would miss, and, as a group of their own, those that it would make narrow and that
/// nobody has. The module stays as it is. Of one function, or of all. Nothing, and at once, where
/// it has no narrow floats.
std::vector<MissedDots> missedDots(mlir::ModuleOp module, llvm::StringRef function = {});

} // namespace octavo::transforms
