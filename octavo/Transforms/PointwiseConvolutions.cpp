#include "octavo/Transforms/PointwiseConvolutions.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Transforms/ConvolutionPatches.h"
#include "octavo/Transforms/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

static bool isKnownTensorOfFloats(mlir::Value value) {
  return typeOf(value) && llvm::isa<mlir::FloatType>(typeOf(value).getElementType());
}

bool isPointwise(stablehlo::ConvolutionOp op) {
  if (!isKnownTensorOfFloats(op.getLhs()) || !isKnownTensorOfFloats(op.getRhs()) ||
      !isKnownTensorOfFloats(op.getResult()))
    return false;
  const auto areAll = [](std::int64_t number) {
    return [number](std::int64_t each) { return each == number; };
  };
  const auto areOne = [&](std::optional<llvm::ArrayRef<std::int64_t>> numbers) {
    return !numbers || llvm::all_of(*numbers, areAll(1));
  };
  const bool isPadded =
      op.getPadding() && !llvm::all_of(op.getPadding()->getValues<std::int64_t>(), areAll(0));
  return op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 && !isPadded &&
         areOne(op.getWindowStrides()) && areOne(op.getLhsDilation()) &&
         llvm::all_of(op.getDimensionNumbers().getKernelSpatialDimensions(),
                      [&](std::int64_t axis) {
                        return shapeOf(op.getRhs())[static_cast<std::size_t>(axis)] == 1;
                      });
}

PointwiseConvolution::PointwiseConvolution(stablehlo::ConvolutionOp op) : convolution(op) {
  mlir::Operation* before = op->getPrevNode();
  const ProductOfPatches patches = writePatches(op);
  product = patches.dot;
  result = patches.result;
  mlir::Operation* first = before != nullptr ? before->getNextNode() : &op->getBlock()->front();
  for (mlir::Operation* each = first; each != op; each = each->getNextNode())
    written.push_back(each);
  op.getResult().replaceAllUsesWith(result);
}

mlir::Operation* PointwiseConvolution::putBack() {
  result.replaceAllUsesWith(convolution.getResult());
  for (mlir::Operation* op : llvm::reverse(written))
    op->erase();
  return convolution;
}

std::vector<PointwiseConvolution> writePointwise(mlir::ModuleOp module) {
  llvm::SmallVector<stablehlo::ConvolutionOp> found;
  module.walk([&](stablehlo::ConvolutionOp op) {
    if (isPointwise(op))
      found.push_back(op);
  });
  return {found.begin(), found.end()};
}

} // namespace octavo::transforms
