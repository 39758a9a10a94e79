// Finds dots that have narrow tensors behind them but multiply wide values, for a warning when a
// program is run or quantized.
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
  bool isRecovered = false;       ///< there is no obstacle: recoverScaled would make them narrow
  bool isOneSided = false;        ///< the obstacle keeps only one side wide

  /// One line: the number of dots, the first one's name and place, its obstacle, and the remedy.
  std::string text() const;
};

/// Groups the missed dots of a report by obstacle, in the order of each group's first dot.
std::vector<MissedDots> missedDots(const RecoverReport& report);

/// One line for each recovered dot with values that differ from the program's: name, place, and the
/// values.
std::vector<std::string> differingDots(const RecoverReport& report);

/// The number of distinct dots in the groups. A dot that one side keeps wide may be recovered on
/// the other and counts once.
std::size_t countDots(const std::vector<MissedDots>& groups);

/// The missed dots of one function, or of all, its calls inlined: those that recoverScaled would
/// miss and, as a group, those that it would recover. Works on a copy. Returns at once if the
/// module has no narrow floats.
std::vector<MissedDots> missedDots(mlir::ModuleOp module, llvm::StringRef function = {});

} // namespace octavo::transforms
