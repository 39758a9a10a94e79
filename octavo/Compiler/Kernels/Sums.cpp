#include "octavo/Compiler/Kernels/Sums.h"

#include "octavo/Compiler/Kernels/ComplexArithmetic.h"
#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Compiler/Kernels/Windows.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::compiler {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

bool isInteger(mlir::Value value) { return mlir::isa<mlir::IntegerType>(elementOf(value)); }
bool areFloats(mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  return llvm::all_of(llvm::SmallVector<mlir::Value>{lhs, rhs, result}, [](mlir::Value value) {
    return mlir::isa<mlir::FloatType>(elementOf(value));
  });
}
/// Whether operands and result are complex, and no operand has more bits than the result.
bool areComplex(mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  const auto widthOf = [](mlir::Value value) {
    auto type = mlir::dyn_cast<mlir::ComplexType>(elementOf(value));
    return type ? type.getElementType().getIntOrFloatBitWidth() : 0;
  };
  const unsigned most = widthOf(result);
  return llvm::all_of(llvm::SmallVector<mlir::Value>{lhs, rhs}, [&](mlir::Value value) {
    return widthOf(value) != 0 && widthOf(value) <= most;
  });
}
/// Floats, and an operand or the result is empty: the kernel library multiplies no such matrices.
bool isEmptyOfFloats(mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  return areFloats(lhs, rhs, result) &&
         (sizeOf(lhs) == 0 || sizeOf(rhs) == 0 || sizeOf(result) == 0);
}

/// The type in which products are multiplied and added: the result's type for integers and complex
/// numbers, else f64 if any operand or the result is f64, else f32.
mlir::Type accumulationType(mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  const mlir::Type element = elementOf(result);
  if (mlir::isa<mlir::IntegerType, mlir::ComplexType>(element))
    return element;
  for (mlir::Value value : {lhs, rhs, result})
    if (elementOf(value).isF64())
      return mlir::Float64Type::get(element.getContext());
  return mlir::Float32Type::get(element.getContext());
}

/// Whether the sum is computed here: the kernel library does not multiply these types.
bool isSummed(mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  const bool areIntegers = isInteger(lhs) && isInteger(rhs) && isInteger(result);
  return areIntegers || areComplex(lhs, rhs, result) ||
         (areFloats(lhs, rhs, result) && accumulationType(lhs, rhs, result).isF64());
}

std::string notOf(llvm::StringRef what, mlir::Value lhs, mlir::Value rhs, mlir::Value result) {
  std::string text;
  llvm::raw_string_ostream(text) << what << " of " << elementOf(lhs) << " and " << elementOf(rhs)
                                 << " to " << elementOf(result) << " are not compiled";
  return text;
}

/// sum + a * b. Floats are rounded after the product and after the sum; complex numbers part by
/// part.
class Products {
public:
  Products(Scalars& scalars, mlir::Value lhs, mlir::Value rhs, mlir::Value result)
      : scalars(scalars), left(elementOf(lhs)), right(elementOf(rhs)), result(elementOf(result)),
        type(accumulationType(lhs, rhs, result)) {}

  llvm::Value* zero() const { return llvm::Constant::getNullValue(scalars.registerType(type)); }
  llvm::Value* leftZero() const { return llvm::Constant::getNullValue(scalars.registerType(left)); }
  llvm::Value* add(llvm::Value* sum, llvm::Value* a, llvm::Value* b, bool isOrdered) const {
    a = scalars.convert(left, type, a);
    b = scalars.convert(right, type, b);
    llvm::IRBuilder<>& builder = scalars.b;
    if (type.isInteger(1))
      return builder.CreateOr(sum, builder.CreateAnd(a, b));
    if (mlir::isa<mlir::IntegerType>(type))
      return builder.CreateAdd(sum, builder.CreateMul(a, b));
    if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type))
      return addComplex(scalars, sum, multiplyComplex(scalars, complex.getElementType(), a, b));
    llvm::Value* product = builder.CreateFMul(a, b);
    const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
    llvm::FastMathFlags flags;
    flags.setAllowReassoc(!isOrdered);
    builder.setFastMathFlags(flags);
    return builder.CreateFAdd(sum, product);
  }
  llvm::Value* finish(llvm::Value* sum) const { return scalars.convert(type, result, sum); }

private:
  Scalars& scalars;
  mlir::Type left, right, result, type;
};

} // namespace

std::string whyNoSum(stablehlo::ReduceWindowOp op) {
  const std::size_t count = op.getInputs().size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(i);
    const mlir::Type element = elementOf(op.getInputs()[number]);
    const auto typeOf = [&](std::size_t argument) {
      return elementOf(op.getBody().getArgument(static_cast<unsigned>(argument)));
    };
    if (elementOf(op.getResult(number)) != element || typeOf(i) != element ||
        typeOf(count + i) != element)
      return "its body is not of its elements' types";
  }
  return whyNoBody(op.getBody());
}

Elements::Values emitSums(Elements& elements, stablehlo::ReduceWindowOp op, const Index& linear) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs()[0]);
  const bool isEmpty = sizeOf(op.getInputs()[0]) == 0;
  const stablehlo::Window window = windowOf(op);
  const Combination combination(op.getBody(), op.getInputs().getTypes(), op->getResultTypes(),
                                true);
  const auto at = indicesOf(linear, shapeOf(op.getResult(0)), elements);
  Elements::Values padding;
  for (const auto& [i, init] : llvm::enumerate(op.getInitValues()))
    padding.push_back(
        combination.enter(elements.scalars, i, elementOf(init), elements.element(init, Index())));
  Elements::Values sums = overPlaces(
      elements, op.getWindowDimensions(), padding,
      [&](llvm::ArrayRef<Index> place, const Elements::Values& running) -> Elements::Values {
        llvm::SmallVector<Index> indices;
        llvm::Value* isInside = nullptr;
        for (std::size_t axis = 0; axis < shape.size() && !isEmpty; ++axis) {
          WindowElement found =
              windowElement(elements, window[axis], shape[axis], at[axis], place[axis]);
          indices.push_back(std::move(found.index));
          if (found.isInside != nullptr)
            isInside = isInside == nullptr ? found.isInside
                                           : elements.b.CreateAnd(isInside, found.isInside);
        }
        Elements::Values values = padding;
        for (const auto& [i, input] : llvm::enumerate(op.getInputs())) {
          if (isEmpty)
            break;
          values[i] = combination.enter(elements.scalars, i, elementOf(input),
                                        elements.element(input, linearIndex(indices, shape)));
          if (isInside != nullptr)
            values[i] = elements.b.CreateSelect(isInside, values[i], padding[i]);
        }
        return combination.combine(elements.scalars, running, values);
      });
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = combination.leave(elements.scalars, i, sum);
  return sums;
}

std::string whyNoSum(stablehlo::ConvolutionOp op) {
  const mlir::Value lhs = op.getLhs(), rhs = op.getRhs(), result = op.getResult();
  if (isSummed(lhs, rhs, result))
    return "";
  const auto features =
      static_cast<std::size_t>(op.getDimensionNumbers().getKernelInputFeatureDimension());
  // With one feature for each group, the matrices of the products would be vectors.
  const bool isOfOneEach = op.getFeatureGroupCount() > 1 && shapeOf(rhs)[features] == 1;
  if (isEmptyOfFloats(lhs, rhs, result) || (isOfOneEach && areFloats(lhs, rhs, result)))
    return "";
  return notOf("convolutions", lhs, rhs, result);
}

llvm::Value* emitSum(Elements& elements, stablehlo::ConvolutionOp op, const Index& linear) {
  const mlir::Value lhs = op.getLhs(), rhs = op.getRhs();
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(lhs), kernelShape = shapeOf(rhs);
  const auto extentOf = [](llvm::ArrayRef<std::int64_t> extents, std::int64_t axis) {
    return extents[static_cast<std::size_t>(axis)];
  };
  const auto at = indicesOf(linear, shapeOf(op.getResult()), elements);
  const stablehlo::Window window = windowOf(op);
  const auto reversed = op.getWindowReversal();
  const std::int64_t features = extentOf(kernelShape, numbers.getKernelInputFeatureDimension());
  const std::int64_t outputs = extentOf(kernelShape, numbers.getKernelOutputFeatureDimension());
  const auto featureGroups = static_cast<std::int64_t>(op.getFeatureGroupCount());
  const auto batchGroups = static_cast<std::int64_t>(op.getBatchGroupCount());
  const Index& output = at[static_cast<std::size_t>(numbers.getOutputFeatureDimension())];
  Index batch = at[static_cast<std::size_t>(numbers.getOutputBatchDimension())];
  Index firstFeature;
  if (featureGroups > 1)
    firstFeature = elements.divide(output, outputs / featureGroups).quotient * features;
  if (batchGroups > 1)
    batch = batch + elements.divide(output, outputs / batchGroups).quotient *
                        (extentOf(shape, numbers.getInputBatchDimension()) / batchGroups);

  Axes sizes;
  for (const stablehlo::WindowAxis& axis : window)
    sizes.push_back(axis.size);
  sizes.push_back(features);
  const Products products(elements.scalars, lhs, rhs, op.getResult());
  const auto sums = overPlaces(
      elements, sizes, {products.zero()},
      [&](llvm::ArrayRef<Index> place, const Elements::Values& running) -> Elements::Values {
        llvm::SmallVector<Index> from(shape.size()), weight(kernelShape.size());
        llvm::Value* isInside = nullptr;
        for (std::size_t axis = 0; axis < window.size(); ++axis) {
          const auto own = static_cast<std::size_t>(numbers.getInputSpatialDimensions()[axis]);
          WindowElement found = windowElement(
              elements, window[axis], shape[own],
              at[static_cast<std::size_t>(numbers.getOutputSpatialDimensions()[axis])],
              place[axis]);
          from[own] = std::move(found.index);
          if (found.isInside != nullptr)
            isInside = isInside == nullptr ? found.isInside
                                           : elements.b.CreateAnd(isInside, found.isInside);
          const bool isReversed = reversed && !reversed->empty() && (*reversed)[axis];
          weight[static_cast<std::size_t>(numbers.getKernelSpatialDimensions()[axis])] =
              isReversed ? place[axis] * -1 + (sizes[axis] - 1) : place[axis];
        }
        from[static_cast<std::size_t>(numbers.getInputBatchDimension())] = batch;
        from[static_cast<std::size_t>(numbers.getInputFeatureDimension())] =
            firstFeature + place.back();
        weight[static_cast<std::size_t>(numbers.getKernelInputFeatureDimension())] = place.back();
        weight[static_cast<std::size_t>(numbers.getKernelOutputFeatureDimension())] = output;
        llvm::Value* value = sizeOf(lhs) == 0 ? products.leftZero()
                                              : elements.element(lhs, linearIndex(from, shape));
        if (isInside != nullptr)
          value = elements.b.CreateSelect(isInside, value, products.leftZero());
        return {products.add(running[0], value,
                             elements.element(rhs, linearIndex(weight, kernelShape)), true)};
      });
  return products.finish(sums[0]);
}

std::string whyNoSum(stablehlo::DotGeneralOp op) {
  if (op.getAlgorithm())
    return "dots with an algorithm are not compiled";
  if (isSummed(op.getLhs(), op.getRhs(), op.getResult()) ||
      isEmptyOfFloats(op.getLhs(), op.getRhs(), op.getResult()))
    return "";
  return notOf("dots", op.getLhs(), op.getRhs(), op.getResult());
}

llvm::Value* emitSum(Elements& elements, stablehlo::DotGeneralOp op, const Index& linear) {
  const auto numbers = op.getDotDimensionNumbers();
  const auto at = indicesOf(linear, shapeOf(op.getResult()), elements);
  struct Side {
    mlir::Value value;
    llvm::ArrayRef<std::int64_t> batch, contracted;
  };
  const Side sides[] = {
      {op.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()},
      {op.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()}};
  Axes extents;
  std::int64_t depth = 1;
  for (const std::int64_t axis : sides[0].contracted) {
    extents.push_back(shapeOf(op.getLhs())[static_cast<std::size_t>(axis)]);
    depth *= extents.back();
  }
  const Products products(elements.scalars, op.getLhs(), op.getRhs(), op.getResult());
  // One loop over all contracted axes, which is vectorized if both sides are contiguous along it.
  const auto sums = elements.repeat(
      depth, {products.zero()}, [&](llvm::Value* turn, const Elements::Values& running) {
        const auto inner =
            indicesOf(Index::variable(elements.define(turn, depth), depth), extents, elements);
        llvm::Value* values[2];
        std::size_t next = sides[0].batch.size();
        for (const auto& [i, side] : llvm::enumerate(sides)) {
          const llvm::ArrayRef<std::int64_t> shape = shapeOf(side.value);
          llvm::SmallVector<Index> indices(shape.size());
          for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const auto name = static_cast<std::int64_t>(axis);
            const auto batched = llvm::find(side.batch, name);
            const auto contracted = llvm::find(side.contracted, name);
            indices[axis] =
                batched != side.batch.end()
                    ? at[static_cast<std::size_t>(batched - side.batch.begin())]
                : contracted != side.contracted.end()
                    ? inner[static_cast<std::size_t>(contracted - side.contracted.begin())]
                    : at[next++];
          }
          values[i] = elements.element(side.value, linearIndex(indices, shape));
        }
        return Elements::Values{products.add(running[0], values[0], values[1], false)};
      });
  return products.finish(sums[0]);
}

} // namespace octavo::compiler
