// Which dots are one layer, and which layers are first, last and routers.
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

/// A layer is a weight: the dots that multiply it, in the forward pass, computed once more and by a
/// gradient, and the product of a gradient and what it was multiplied with, which is its gradient.
class DotLayers {
public:
  /// Finds those of the places. `isWeight` says of any value whether it is one, moved about.
  DotLayers(llvm::ArrayRef<Dot> dots, const std::set<DotPlace>& places,
            llvm::function_ref<bool(mlir::Value)> isWeight, const ProgramCalls& program,
            const Derivatives& derivatives);

  bool has(DotPlace place, mlir::Operation* dot) const;

private:
  std::map<DotPlace, llvm::DenseSet<mlir::Operation*>> members;
};

} // namespace octavo::transforms
