#include "octavo/Transforms/Legalize/ConvolutionDots.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Quantize/ConstantQuantization.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace octavo::transforms {

// An image of 224x224 by windows of 11x11, the largest of common networks, takes 121.
constexpr std::int64_t kMostSlices = 128;

// Least features in a group: a block of the MX formats. With fewer, the dots of a batch are small
// and take up to ten times as long as in f32.
constexpr std::int64_t kLeastFeatures = 32;

static std::int64_t featuresOf(stablehlo::ConvolutionOp op) {
  const std::int64_t axis = op.getDimensionNumbers().getKernelInputFeatureDimension();
  return openShapeOf(op.getRhs())[static_cast<std::size_t>(axis)];
}

/// Why a convolution is left; empty if it becomes a dot of patches.
static std::string whyLeft(stablehlo::ConvolutionOp op) {
  const auto numbers = op.getDimensionNumbers();
  const std::pair<mlir::Value, std::int64_t> values[] = {
      {op.getLhs(), numbers.getInputBatchDimension()},
      {op.getResult(), numbers.getOutputBatchDimension()},
      {op.getRhs(), -1}};
  bool isEmpty = false, isOpen = false;
  for (const auto& [value, images] : values) {
    if (!llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType())))
      return "its elements are no floats";
    if (!openTypeOf(value))
      return "its extents are open";
    for (const auto& [axis, extent] : llvm::enumerate(openShapeOf(value))) {
      isEmpty |= extent == 0;
      if (!mlir::ShapedType::isDynamic(extent))
        continue;
      if (static_cast<std::int64_t>(axis) != images)
        return "extents other than the number of its images are open";
      isOpen = true;
    }
  }
  const std::int64_t groups = static_cast<std::int64_t>(op.getFeatureGroupCount()),
                     features = featuresOf(op);
  if (groups > 1 && features < kLeastFeatures)
    return fmt::format("its {} groups have {} feature{} each, and those of {} and more are dots",
                       groups, features, features == 1 ? "" : "s", kLeastFeatures);
  if (isOpen && op.getBatchGroupCount() > 1)
    return "it has groups of images, whose number is open";
  if (isEmpty)
    return "it has no elements";
  if (const std::int64_t slices = Windows(op).slices(); slices > kMostSlices)
    return fmt::format("its patches are made of {} slices of its input, and up to {} are", slices,
                       kMostSlices);
  return {};
}

ConvolutionDot::ConvolutionDot(stablehlo::ConvolutionOp op)
    : convolution(op), windows(op), featuresOfGroup(featuresOf(op)) {
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

static bool hasOneBlock(ir::ScaledType type) {
  return llvm::ArrayRef(type.getBlock()) == llvm::ArrayRef(type.getShape());
}

/// Whether the blocks of the patches are those of the input, repeated for each window.
static bool haveSameBlocks(ir::ScaledType patches, ir::ScaledType input, std::int64_t features) {
  const auto along = [](ir::ScaledType type) {
    const auto isOne = [](std::int64_t extent) { return extent == 1; };
    return llvm::all_of(type.getBlock().drop_back(), isOne) ? type.getBlock().back() : 0;
  };
  return (hasOneBlock(patches) && hasOneBlock(input)) ||
         (along(input) != 0 && along(input) == along(patches) && features % along(input) == 0);
}

std::vector<std::vector<bool>> ConvolutionDot::seenOfInput() {
  const llvm::ArrayRef<std::int64_t> shape =
      llvm::cast<mlir::ShapedType>(convolution.getLhs().getType()).getShape();
  std::vector<std::vector<bool>> seen(shape.size());
  for (const auto& [at, axis] :
       llvm::enumerate(convolution.getDimensionNumbers().getInputSpatialDimensions())) {
    const auto place = static_cast<std::size_t>(axis);
    const llvm::BitVector ofAxis = windows.seen(at, shape[place]);
    if (ofAxis.all())
      continue;
    for (unsigned i = 0; i < ofAxis.size(); ++i)
      seen[place].push_back(ofAxis.test(i));
  }
  return seen;
}

mlir::Value ConvolutionDot::repeatedInput() const {
  const mlir::Value input = firstOfPatches ? firstOfPatches->getOperand(0) : mlir::Value();
  return input && windows.repeat(openShapeOf(input).drop_front().drop_back()) ? input
                                                                              : mlir::Value();
}

mlir::Value ConvolutionDot::leftOf(mlir::OpBuilder& builder, mlir::Value input,
                                   mlir::DenseElementsAttr padding) const {
  return byGroups(builder, windows, patchesOf(builder, windows, input, padding));
}

mlir::Value ConvolutionDot::quantizedLeft(llvm::ArrayRef<std::int64_t> shape,
                                          const Quantization& quantization) const {
  const mlir::Value input = repeatedInput();
  if (!input)
    return {};
  const ir::ScaledType type = quantization.type(shape), own = quantization.type(openShapeOf(input));
  // One scale over an open batch is computed only in a product's step.
  if (!haveSameBlocks(type, own, featuresOfGroup) || (hasOneBlock(own) && !typeOf(input)))
    return {};
  // Padding is the code of zero, which the quantization defines.
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
  const mlir::Value elements = leftOf(builder, parts.getElements(), zero.elements);
  mlir::Value scales = parts.getScales();
  if (!hasOneBlock(type))
    scales = leftOf(builder, scales, zero.scales);
  else if (scales.getType() != type.getScalesType())
    scales = stablehlo::ReshapeOp::create(builder, location, type.getScalesType(), scales);
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
