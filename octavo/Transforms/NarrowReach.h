// Which values of a program are computed from codes of narrow formats.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace octavo::transforms {

/// Answers, and remembers them, for values as they stand when it is asked.
class NarrowReach {
public:
  /// Whether codes are among what a value is computed from (those that integers stand for too:
  /// MXINT8, and what is decoded by arithmetic), without another product or sum between;
  /// of a value that a loop carries, in every round but perhaps the first.
  bool covers(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace octavo::transforms
