#include "octavo/Transforms/RaggedDots.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

/// Null where a composite of that name says something else.
static chlo::RaggedDotDimensionNumbersAttr dimensionNumbers(stablehlo::CompositeOp op) {
  constexpr std::size_t kLists = 6;
  const auto attributes = op.getCompositeAttributes();
  const auto given = attributes ? llvm::dyn_cast_if_present<mlir::ArrayAttr>(
                                      attributes.get("ragged_dot_dimension_numbers"))
                                : mlir::ArrayAttr();
  if (op.getName() != chlo::RaggedDotOp::getOperationName() || !given || given.size() != kLists ||
      op->getNumOperands() != 3 || op->getNumResults() != 1)
    return {};
  llvm::SmallVector<std::int64_t> axes[kLists];
  for (const auto& [attribute, list] : llvm::zip_equal(given, axes)) {
    const auto numbers = llvm::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
    if (!numbers || !numbers.getElementType().isSignlessInteger(64))
      return {};
    llvm::append_range(list, numbers.getValues<std::int64_t>());
  }
  return chlo::RaggedDotDimensionNumbersAttr::get(op.getContext(), axes[0], axes[1], axes[2],
                                                  axes[3], axes[4], axes[5]);
}

void openRaggedDots(mlir::ModuleOp module) {
  llvm::SmallVector<stablehlo::CompositeOp> found;
  module.walk([&](stablehlo::CompositeOp op) { found.push_back(op); });
  for (stablehlo::CompositeOp op : found) {
    const auto numbers = dimensionNumbers(op);
    if (!numbers)
      continue;
    mlir::OpBuilder builder(op);
    auto ragged =
        chlo::RaggedDotOp::create(builder, op.getLoc(), op->getResultTypes()[0], op->getOperand(0),
                                  op->getOperand(1), op->getOperand(2), numbers, mlir::ArrayAttr());
    const mlir::ScopedDiagnosticHandler unheard(op.getContext(),
                                                [](mlir::Diagnostic&) { return mlir::success(); });
    if (failed(ragged.verify())) {
      ragged.erase();
      continue;
    }
    auto decomposition = module.lookupSymbol<mlir::func::FuncOp>(op.getDecomposition());
    op->replaceAllUsesWith(ragged);
    op.erase();
    if (decomposition && decomposition.isPrivate() &&
        mlir::SymbolTable::symbolKnownUseEmpty(decomposition, module))
      decomposition.erase();
  }
}

static bool isWritten(chlo::RaggedDotOp op) {
  const auto numbers = op.getRaggedDotDimensionNumbers();
  return op.mode() == chlo::RaggedDotOp::Mode::Free &&
         llvm::isa<mlir::FloatType>(op.getType().getElementType()) &&
         numbers.getLhsContractingDimensions().size() + 1 ==
             static_cast<std::size_t>(op.getLhs().getType().getRank()) &&
         numbers.getRhsGroupDimensions().front() == 0 &&
         op.getGroupSizes().getType().getRank() == 1;
}

DotOfGroups::DotOfGroups(chlo::RaggedDotOp op) : ragged(op) {
  mlir::OpBuilder builder(op);
  const auto numbers = op.getRaggedDotDimensionNumbers();
  const auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), {}, {}, numbers.getLhsContractingDimensions(),
      numbers.getRhsContractingDimensions());
  llvm::SmallVector<std::int64_t> shape(op.getType().getShape());
  shape.insert(shape.begin() + 1, op.getRhs().getType().getDimSize(0));
  product = stablehlo::DotGeneralOp::create(builder, op.getLoc(), op.getType().clone(shape),
                                            op.getLhs(), op.getRhs(), dimensions, mlir::ArrayAttr(),
                                            stablehlo::DotAlgorithmAttr());
  rows = ir::RowsOfGroupsOp::create(builder, op.getLoc(), op.getType(), product.getResult(),
                                    op.getGroupSizes());
  op.getResult().replaceAllUsesWith(rows.getResult());
}

void DotOfGroups::putBack() {
  rows.getResult().replaceAllUsesWith(ragged.getResult());
  rows.erase();
  product.erase();
}

std::vector<DotOfGroups> writeRaggedDots(mlir::ModuleOp module) {
  openRaggedDots(module);
  llvm::SmallVector<chlo::RaggedDotOp> found;
  module.walk([&](chlo::RaggedDotOp op) {
    if (isWritten(op))
      found.push_back(op);
  });
  return {found.begin(), found.end()};
}

} // namespace octavo::transforms
