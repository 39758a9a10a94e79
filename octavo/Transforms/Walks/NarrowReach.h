// Which values of a program are computed from codes of narrow formats.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace octavo::transforms {

/// What is looked for.
enum class Narrow : std::uint8_t {
  Codes,         ///< those that integers stand for too: MXINT8, and what is decoded by arithmetic
  CodesAndScales ///< and every tensor of E8M0
};

/// Answers, and remembers them, for values as they stand when it is asked.
class NarrowReach {
public:
  explicit NarrowReach(Narrow sought = Narrow::Codes) : sought(sought) {}

  /// Whether what is looked for is among what a value is computed from, without another product or
  /// sum between; of a value that a loop carries, in every round but perhaps the first.
  bool covers(mlir::Value value);

private:
  Narrow sought;
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace octavo::transforms
