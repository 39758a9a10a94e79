#include "octavo/Transforms/Walks/ScatterWindows.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>
#include <optional>

namespace octavo::transforms {

namespace {

/// The largest index that keeps every window inside the input along the axes that indices address.
/// nullopt if the windows have extent 1 there, or an extent is unknown.
std::optional<std::int64_t> largestStart(stablehlo::ScatterOp op) {
  const auto numbers = op.getScatterDimensionNumbers();
  const auto input = llvm::cast<mlir::RankedTensorType>(op.getInputs().front().getType());
  const auto updates = llvm::cast<mlir::RankedTensorType>(op.getUpdates().front().getType());
  std::optional<std::int64_t> largest;
  std::size_t nextWindow = 0;
  for (std::int64_t axis = 0; axis < input.getRank(); ++axis) {
    if (llvm::is_contained(numbers.getInsertedWindowDims(), axis) ||
        llvm::is_contained(numbers.getInputBatchingDims(), axis))
      continue;
    const std::int64_t updateAxis = numbers.getUpdateWindowDims()[nextWindow++];
    const std::int64_t window = updates.getDimSize(static_cast<unsigned>(updateAxis));
    const std::int64_t extent = input.getDimSize(static_cast<unsigned>(axis));
    if (!llvm::is_contained(numbers.getScatterDimsToOperandDims(), axis) || window <= 1 ||
        mlir::ShapedType::isDynamic(window) || mlir::ShapedType::isDynamic(extent))
      continue;
    largest = std::min(largest.value_or(extent - window), extent - window);
  }
  return largest;
}

/// Whether all indices are known to be in [0, largest], or are clamped by the program.
bool areInside(mlir::Value indices, std::int64_t largest) {
  llvm::SmallVector<mlir::Value> pending = {indices};
  llvm::SmallPtrSet<mlir::Operation*, 8> seen;
  while (!pending.empty()) {
    mlir::Operation* op = pending.pop_back_val().getDefiningOp();
    if (op == nullptr)
      return false;
    if (!seen.insert(op).second || llvm::isa<stablehlo::ClampOp, stablehlo::IotaOp>(op))
      continue;
    if (auto constant = llvm::dyn_cast<stablehlo::ConstantOp>(op)) {
      const auto values = llvm::dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue());
      if (!values || llvm::any_of(values, [&](const llvm::APInt& value) {
            return value.isNegative() || value.sgt(largest);
          }))
        return false;
    } else if (llvm::isa<stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp,
                         stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::SliceOp,
                         stablehlo::TransposeOp>(op)) {
      pending.append(op->operand_begin(), op->operand_end());
    } else {
      return false;
    }
  }
  return true;
}

} // namespace

std::vector<std::string> scattersPartlyOutside(mlir::ModuleOp module) {
  std::size_t count = 0;
  std::string first;
  module.walk([&](stablehlo::ScatterOp op) {
    const std::optional<std::int64_t> largest = largestStart(op);
    if (!largest || areInside(op.getScatterIndices(), *largest))
      return;
    if (count++ == 0)
      first = locationText(op.getLoc());
  });
  if (count == 0)
    return {};
  const std::string others =
      count == 1 ? "" : " (and " + std::to_string(count - 1) + " other scatters)";
  return {
      "the scatter at " + first + others +
      " may write windows that lie partly outside its input: octavo writes the elements inside, "
      "as StableHLO specifies, where XLA leaves out the whole window; clamp the indices if the "
      "results must be equal"};
}

} // namespace octavo::transforms
