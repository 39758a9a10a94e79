#include "octavo/Transforms/ConvolutionDots.h"

#include "octavo/Transforms/ConvolutionPatches.h"
#include "octavo/Transforms/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace octavo::transforms {

// An image of 224x224 by windows of 11x11, the largest of common networks, takes 121.
constexpr std::int64_t kMostSlices = 128;

std::string reasonToStay(stablehlo::ConvolutionOp op) {
  const mlir::Value values[] = {op.getLhs(), op.getRhs(), op.getResult()};
  if (!llvm::all_of(values, [](mlir::Value value) { return typeOf(value) != nullptr; }))
    return "its extents are open";
  if (!llvm::all_of(values, [](mlir::Value value) {
        return llvm::isa<mlir::FloatType>(typeOf(value).getElementType());
      }))
    return "its elements are no floats";
  if (op.getFeatureGroupCount() > 1 || op.getBatchGroupCount() > 1)
    return "it has several groups";
  if (llvm::any_of(values, [](mlir::Value value) { return elementCount(shapeOf(value)) == 0; }))
    return "it has no elements";
  if (const std::int64_t slices = slicesOfPatches(op); slices > kMostSlices)
    return fmt::format("its patches are made of {} slices of its input, and up to {} are", slices,
                       kMostSlices);
  return {};
}

ConvolutionDot::ConvolutionDot(stablehlo::ConvolutionOp op) : convolution(op) {
  mlir::Operation* before = op->getPrevNode();
  const ProductOfPatches patches = writePatches(op);
  product = patches.dot;
  result = patches.result;
  mlir::Operation* first = before != nullptr ? before->getNextNode() : &op->getBlock()->front();
  for (mlir::Operation* each = first; each != op; each = each->getNextNode())
    written.push_back(each);
  op.getResult().replaceAllUsesWith(result);
}

void ConvolutionDot::putBack() {
  result.replaceAllUsesWith(convolution.getResult());
  for (mlir::Operation* op : llvm::reverse(written))
    op->erase();
}

std::vector<ConvolutionDot> writeConvolutionDots(mlir::ModuleOp module) {
  llvm::SmallVector<stablehlo::ConvolutionOp> found;
  module.walk([&](stablehlo::ConvolutionOp op) {
    if (reasonToStay(op).empty())
      found.push_back(op);
  });
  return {found.begin(), found.end()};
}

} // namespace octavo::transforms
