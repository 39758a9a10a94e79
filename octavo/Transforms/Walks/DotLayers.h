// Groups dots into layers, and finds the layers that are first, last or routers.
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Walks/Derivatives.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <set>

namespace octavo::transforms {

struct Dot;

/// A layer is a weight and all dots that belong to it: those that multiply the weight in the
/// forward pass, in its recomputation and with a gradient, and the dot that computes the weight's
/// gradient.
class DotLayers {
public:
  /// Finds the layers at `places`. `isWeight` tells whether a value is a weight, at most moved.
  DotLayers(llvm::ArrayRef<Dot> dots, const std::set<DotPlace>& places,
            llvm::function_ref<bool(mlir::Value)> isWeight, const ProgramCalls& program,
            const Derivatives& derivatives);

  /// Whether `dot` belongs to a layer at `place`.
  bool has(DotPlace place, mlir::Operation* dot) const;

private:
  std::map<DotPlace, llvm::DenseSet<mlir::Operation*>> members;
};

} // namespace octavo::transforms
