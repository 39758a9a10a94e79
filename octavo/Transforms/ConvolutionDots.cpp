#include "octavo/Transforms/ConvolutionDots.h"

#include "octavo/Transforms/ConstantQuantization.h"
#include "octavo/Transforms/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace octavo::transforms {

// An image of 224x224 by windows of 11x11, the largest of common networks, takes 121.
constexpr std::int64_t kMostSlices = 128;

/// Empty where it is written as a dot of patches.
static std::string whyLeft(stablehlo::ConvolutionOp op) {
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
  if (const std::int64_t slices = Windows(op).slices(); slices > kMostSlices)
    return fmt::format("its patches are made of {} slices of its input, and up to {} are", slices,
                       kMostSlices);
  return {};
}

ConvolutionDot::ConvolutionDot(stablehlo::ConvolutionOp op) : convolution(op), windows(op) {
  mlir::Operation* before = op->getPrevNode();
  const ProductOfPatches patches = writePatches(op, windows);
  product = patches.dot;
  result = patches.result;
  mlir::Operation* first = before != nullptr ? before->getNextNode() : &op->getBlock()->front();
  for (mlir::Operation* each = first; each != op; each = each->getNextNode())
    written.push_back(each);
  const auto* reads = llvm::find_if(written, [&](mlir::Operation* each) {
    return each->getNumOperands() != 0 && each->getOperand(0) == patches.input;
  });
  firstOfPatches = reads == written.end() ? nullptr : *reads;
  op.getResult().replaceAllUsesWith(result);
}

/// Whether the blocks of patches are those of the input, as often as windows see them.
static bool haveSameBlocks(ir::ScaledType patches, ir::ScaledType input) {
  const auto ofPatches = llvm::ArrayRef(patches.getBlock()), own = llvm::ArrayRef(input.getBlock());
  const auto isOne = [](std::int64_t extent) { return extent == 1; };
  return ofPatches == own && llvm::all_of(own.drop_back(), isOne) &&
         input.getShape().back() % own.back() == 0;
}

static bool hasOneBlock(ir::ScaledType type) {
  return llvm::ArrayRef(type.getBlock()) == llvm::ArrayRef(type.getShape());
}

mlir::Value ConvolutionDot::quantizedLeft(const Quantization& quantization) const {
  if (!firstOfPatches)
    return {};
  const mlir::Value input = firstOfPatches->getOperand(0);
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(input);
  const ir::ScaledType type = quantization.type(shapeOf(dot().getLhs())),
                       own = quantization.type(shape);
  const bool isOneBlock = hasOneBlock(type) && hasOneBlock(own);
  if (!(isOneBlock || haveSameBlocks(type, own)) || !windows.repeat(shape.drop_front().drop_back()))
    return {};
  // What is padded is what zeros become, which is for the quantization to say.
  const QuantizedConstant zero = llvm::cantFail(
      quantizeConstant(numerics::Tensor::zeros(format::element("f32"), {}),
                       ir::ScaledType::get(type.getContext(), {}, type.getElement(),
                                           type.getScale(), {}, type.getHasOuterScale()),
                       quantization.options));
  const mlir::Value scaled = quantization.quantize(input, own);
  mlir::OpBuilder builder(scaled.getContext());
  builder.setInsertionPointAfterValue(scaled);
  const mlir::Location location = scaled.getLoc();
  auto parts = ir::UnpackOp::create(builder, location, scaled);
  const mlir::Value elements = patchesOf(builder, windows, parts.getElements(), zero.elements),
                    scales = isOneBlock
                                 ? parts.getScales()
                                 : patchesOf(builder, windows, parts.getScales(), zero.scales);
  return ir::PackOp::create(builder, location, type, elements, scales, parts.getOuter());
}

void ConvolutionDot::putBack() {
  result.replaceAllUsesWith(convolution.getResult());
  for (mlir::Operation* op : llvm::reverse(written))
    op->erase();
}

ConvolutionDots writeConvolutionDots(mlir::ModuleOp module) {
  llvm::SmallVector<stablehlo::ConvolutionOp> found;
  ConvolutionDots dots;
  module.walk([&](stablehlo::ConvolutionOp op) {
    std::string reason = whyLeft(op);
    if (reason.empty())
      found.push_back(op);
    else
      dots.left[op] = std::move(reason);
  });
  for (stablehlo::ConvolutionOp op : found)
    dots.written.emplace_back(op);
  return dots;
}

} // namespace octavo::transforms
