// Scales that a program has as constants, and what f32 makes of what is computed of them.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// The numbers of tensors that constants, their products and quotients show, not rounded, in the
/// tensor's order; of a splat, one for all. None if they are computed. Each value is looked at
/// once.
class KnownScales {
public:
  llvm::ArrayRef<double> of(mlir::Value value);

private:
  llvm::ArrayRef<double> operand(mlir::Operation* op, unsigned index) const;
  std::vector<double> computed(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, std::vector<double>> known;
};

/// Of scales that f32 does not hold: "inf for a scale of 1e+40, which is beyond f32", "a scale of
/// 3e-39 rounded to a subnormal f32"; empty if it holds them all.
std::string beyondF32(llvm::ArrayRef<double> scales);

} // namespace octavo::transforms
