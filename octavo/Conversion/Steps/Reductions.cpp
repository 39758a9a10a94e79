#include "octavo/Conversion/Steps/Reductions.h"

#include "octavo/Conversion/Kernels/Scalars.h"
#include "octavo/Conversion/Kernels/Views.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace octavo::conversion {

/// Whether the body is one operation on both arguments that may be applied in any order, and twice.
static bool isOrderless(mlir::Block& body) {
  return llvm::hasNItems(body, 2) &&
         llvm::isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp>(
             body.front()) &&
         llvm::all_of(body.getArguments(),
                      [&](mlir::Value side) {
                        return llvm::is_contained(body.front().getOperands(), side);
                      }) &&
         body.back().getOperand(0) == body.front().getResult(0);
}

void reduceByRows(mlir::Block& block) {
  // Shorter rows would take longer than what they save.
  constexpr std::int64_t kLeastColumns = 16;
  for (auto reduce : llvm::make_early_inc_range(block.getOps<stablehlo::ReduceOp>())) {
    if (reduce.getInputs().size() != 1 || !isOrderless(reduce.getBody().front()))
      continue;
    const mlir::Value input = reduce.getInputs()[0];
    const llvm::ArrayRef<std::int64_t> shape = shapeOf(input);
    if (shape.size() < 2 || reduce.getDimensions().size() != shape.size() ||
        shape.back() < kLeastColumns || sizeOf(input) <= shape.back())
      continue;
    const auto last = static_cast<std::int64_t>(shape.size()) - 1;
    mlir::OpBuilder builder(reduce);
    auto ofRows = mlir::cast<stablehlo::ReduceOp>(builder.clone(*reduce));
    ofRows.setDimensions({last});
    ofRows.getResult(0).setType(
        mlir::RankedTensorType::get(shape.drop_back(), elementOf(reduce.getResult(0))));
    llvm::SmallVector<std::int64_t> others(static_cast<std::size_t>(last));
    std::iota(others.begin(), others.end(), 0);
    reduce.getInputsMutable()[0].set(ofRows.getResult(0));
    reduce.setDimensions(others);
  }
}

} // namespace octavo::conversion
