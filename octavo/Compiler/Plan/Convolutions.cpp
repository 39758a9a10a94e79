#include "octavo/Compiler/Plan/Convolutions.h"

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Windows.h"
#include "octavo/Compiler/Plan/Products.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::compiler {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

bool isMultiplied(stablehlo::ConvolutionOp op) {
  const mlir::Type element = elementOf(op.getLhs());
  const auto isStatic = [](mlir::Value value) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    return tensor && tensor.hasStaticShape();
  };
  return isStatic(op.getLhs()) && isStatic(op.getRhs()) && isStatic(op.getResult()) &&
         (element.isF32() || element.isBF16()) && elementOf(op.getRhs()) == element &&
         elementOf(op.getResult()).isF32() &&
         op.getDimensionNumbers().getInputSpatialDimensions().size() <= program::kMostPatchAxes &&
         !isKernelMember(op);
}

/// Where the elements of a value lie: memory, an offset, and a distance for each axis, in elements.
/// stridesOf gives the value as a view of another memory first, then in its own.
struct Strides {
  mlir::Value memory;
  std::int64_t offset;
  Axes axes;
};
llvm::SmallVector<Strides, 2> stridesOf(mlir::Value value) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(value);
  llvm::SmallVector<Index> indices;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    indices.push_back(Index::variable(static_cast<int>(axis), shape[axis]));
  const Index linear = linearIndex(indices, shape);
  Unknowns unknowns(static_cast<int>(shape.size()));
  llvm::SmallVector<Strides, 2> found;
  for (const Element& source : {sourceOf({value, linear}, unknowns), Element{value, linear}}) {
    if (source.tensor != value && isInlined(source.tensor.getDefiningOp()))
      continue; // computed where it is used: it has no memory
    Strides strides{source.tensor, source.linear.constant(), Axes(shape.size(), 0)};
    const bool isPlain = llvm::all_of(source.linear.digits(), [&](const Index::Digit& digit) {
      const auto axis = static_cast<std::size_t>(digit.variable);
      if (axis >= shape.size() || digit.divisor != 1 || digit.modulus != shape[axis])
        return false;
      strides.axes[axis] = digit.factor;
      return true;
    });
    if (isPlain)
      found.push_back(std::move(strides));
  }
  return found;
}

std::int64_t at(llvm::ArrayRef<std::int64_t> list, std::int64_t axis) {
  return list[static_cast<std::size_t>(axis)];
}

/// The axes of a result with these numbers, in the order [batch, places, features].
Axes resultAxes(stablehlo::ConvDimensionNumbersAttr numbers) {
  Axes axes{numbers.getOutputBatchDimension()};
  llvm::append_range(axes, numbers.getOutputSpatialDimensions());
  axes.push_back(numbers.getOutputFeatureDimension());
  return axes;
}

Axes inputAxes(stablehlo::ConvDimensionNumbersAttr numbers) {
  Axes axes{numbers.getInputBatchDimension()};
  llvm::append_range(axes, numbers.getInputSpatialDimensions());
  axes.push_back(numbers.getInputFeatureDimension());
  return axes;
}

bool isInOrder(llvm::ArrayRef<std::int64_t> axes) { return llvm::is_sorted(axes); }

/// The inverse permutation of `axes`.
Axes inverse(llvm::ArrayRef<std::int64_t> axes) {
  Axes places(axes.size());
  for (const auto& [place, axis] : llvm::enumerate(axes))
    places[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(place);
  return places;
}

bool isOnePlace(const stablehlo::WindowAxis& axis) {
  return axis.size == 1 && axis.stride == 1 && axis.low == 0 && axis.high == 0 &&
         axis.baseDilation == 1;
}

/// Replaces a convolution over one place by a dot over the features.
void makeDot(stablehlo::ConvolutionOp op) {
  mlir::OpBuilder builder(op);
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> kernel = shapeOf(op.getRhs());
  const std::int64_t inputs = at(kernel, numbers.getKernelInputFeatureDimension());
  const std::int64_t outputs = at(kernel, numbers.getKernelOutputFeatureDimension());
  const bool isInputFirst =
      numbers.getKernelInputFeatureDimension() < numbers.getKernelOutputFeatureDimension();
  const Axes matrix = isInputFirst ? Axes{inputs, outputs} : Axes{outputs, inputs};
  const mlir::Type element = elementOf(op.getResult());
  mlir::Value weight = stablehlo::ReshapeOp::create(
      builder, op.getLoc(), mlir::RankedTensorType::get(matrix, elementOf(op.getRhs())),
      op.getRhs());
  // The dot's result has the input's axes except features, in their order, then the features.
  Axes order = inputAxes(numbers), free, shape, permutation;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(order.size()); ++axis)
    if (axis != numbers.getInputFeatureDimension()) {
      free.push_back(axis);
      shape.push_back(at(shapeOf(op.getLhs()), axis));
    }
  shape.push_back(outputs);
  mlir::Value dot = stablehlo::DotGeneralOp::create(
      builder, op.getLoc(), mlir::RankedTensorType::get(shape, element), op.getLhs(), weight,
      stablehlo::DotDimensionNumbersAttr::get(
          op.getContext(), {}, {}, {numbers.getInputFeatureDimension()}, {isInputFirst ? 0 : 1}),
      nullptr, nullptr);
  permutation.resize(order.size());
  for (const auto& [ours, theirs] : llvm::zip(order, resultAxes(numbers))) {
    const auto* found = llvm::find(free, ours);
    permutation[static_cast<std::size_t>(theirs)] = found - free.begin();
  }
  op.getResult().replaceAllUsesWith(
      isInOrder(permutation) ? dot : transposed(builder, op.getLoc(), dot, permutation));
  op.erase();
}

} // namespace

std::optional<PatchProduct> patchProduct(stablehlo::ConvolutionOp op) {
  if (!isMultiplied(op))
    return std::nullopt;
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getLhs()), kernel = shapeOf(op.getRhs()),
                                     result = shapeOf(op.getResult());
  const std::int64_t feature = numbers.getInputFeatureDimension();
  if (!isInOrder(resultAxes(numbers)))
    return std::nullopt;
  const auto inputs = stridesOf(op.getLhs());
  const auto* input = llvm::find_if(inputs, [&](const Strides& strides) {
    return at(shape, feature) == 1 || at(strides.axes, feature) == 1;
  });
  const auto weights = stridesOf(op.getRhs());
  if (input == inputs.end() || weights.empty())
    return std::nullopt;
  const Strides& weight = weights.front();
  PatchProduct product{input->memory, weight.memory, {}};
  program::OpenPatchShape& patch = product.shape;
  patch.type = elementOf(op.getLhs()).isF32() ? kernels::PlainType::F32 : kernels::PlainType::Bf16;
  patch.batch = at(result, numbers.getOutputBatchDimension());
  patch.features = at(kernel, numbers.getKernelInputFeatureDimension());
  patch.outputs = at(kernel, numbers.getKernelOutputFeatureDimension());
  patch.inputGroups = static_cast<std::int64_t>(op.getFeatureGroupCount());
  patch.batchGroups = static_cast<std::int64_t>(op.getBatchGroupCount());
  patch.inputOffset = input->offset;
  patch.imageStride = at(input->axes, numbers.getInputBatchDimension());
  patch.weightOffset = weight.offset;
  patch.weightInputStride = at(weight.axes, numbers.getKernelInputFeatureDimension());
  patch.weightOutputStride = at(weight.axes, numbers.getKernelOutputFeatureDimension());
  const auto reversed = op.getWindowReversal();
  for (const auto& [i, axis] : llvm::enumerate(windowOf(op))) {
    const std::int64_t ours = numbers.getInputSpatialDimensions()[i];
    std::int64_t weightStride = at(weight.axes, numbers.getKernelSpatialDimensions()[i]);
    if (reversed && !reversed->empty() && (*reversed)[i]) {
      patch.weightOffset.fixed += (axis.size - 1) * weightStride;
      weightStride = -weightStride;
    }
    patch.axes.push_back({.extent = at(shape, ours),
                          .window = axis.size,
                          .places = at(result, numbers.getOutputSpatialDimensions()[i]),
                          .step = axis.stride,
                          .low = axis.low,
                          .inputDilation = axis.baseDilation,
                          .windowDilation = axis.windowDilation,
                          .inputStride = at(input->axes, ours),
                          .weightStride = weightStride});
  }
  if (patch.axes.empty())
    patch.axes.push_back({1, 1, 1, 1, 0, 1, 1, 0, 0});
  return product;
}

void layOutConvolution(stablehlo::ConvolutionOp op) {
  if (!isMultiplied(op))
    return;
  if (op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 &&
      llvm::all_of(windowOf(op), isOnePlace))
    return makeDot(op);
  if (patchProduct(op))
    return;
  mlir::OpBuilder builder(op);
  const auto numbers = op.getDimensionNumbers();
  const Axes input = inputAxes(numbers), result = resultAxes(numbers);
  const bool turnsResult = !isInOrder(result);
  const auto rank = static_cast<std::int64_t>(input.size());
  const std::int64_t feature = numbers.getInputFeatureDimension();
  bool turnsInput = true;
  for (const Strides& strides : stridesOf(op.getLhs()))
    turnsInput &= at(shapeOf(op.getLhs()), feature) != 1 && at(strides.axes, feature) != 1;
  Axes spatial;
  for (std::int64_t axis = 1; axis + 1 < rank; ++axis)
    spatial.push_back(axis);
  if (turnsInput)
    op.getLhsMutable().assign(transposed(builder, op.getLoc(), op.getLhs(), input));
  op.setDimensionNumbersAttr(stablehlo::ConvDimensionNumbersAttr::get(
      op.getContext(), turnsInput ? 0 : numbers.getInputBatchDimension(),
      turnsInput ? rank - 1 : feature,
      turnsInput ? llvm::ArrayRef<std::int64_t>(spatial) : numbers.getInputSpatialDimensions(),
      numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension(),
      numbers.getKernelSpatialDimensions(), turnsResult ? 0 : numbers.getOutputBatchDimension(),
      turnsResult ? rank - 1 : numbers.getOutputFeatureDimension(),
      turnsResult ? llvm::ArrayRef<std::int64_t>(spatial) : numbers.getOutputSpatialDimensions()));
  if (!turnsResult)
    return;
  Axes shape;
  for (const std::int64_t axis : result)
    shape.push_back(at(shapeOf(op.getResult()), axis));
  mlir::Value found = op.getResult();
  found.setType(mlir::RankedTensorType::get(shape, elementOf(found)));
  builder.setInsertionPointAfter(op);
  mlir::Value back = transposed(builder, op.getLoc(), found, inverse(result));
  found.replaceAllUsesExcept(back, back.getDefiningOp());
}

} // namespace octavo::compiler
