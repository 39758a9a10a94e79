// Scales that are known from constants, and what f32 does to them.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// The numbers in a tensor that are known from constants, their products and quotients, computed
/// without rounding, row-major; one number for a splat. Empty if the program computes them. Each
/// value is analyzed once.
class KnownScales {
public:
  /// The numbers of a tensor. The reference is valid as long as this object.
  llvm::ArrayRef<double> of(mlir::Value value);

private:
  llvm::ArrayRef<double> operand(mlir::Operation* op, unsigned index) const;
  std::vector<double> computed(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, std::vector<double>> known;
};

/// Names the first scale that f32 cannot hold, and counts the others: "inf for a scale of 1e+40,
/// which is beyond f32", "a scale of 3e-39 rounded to a subnormal f32". Empty if f32 holds all.
std::string beyondF32(llvm::ArrayRef<double> scales);

} // namespace octavo::transforms
