#include "octavo/Compiler/Plan/SwapDotOperands.h"

#include "octavo/Compiler/Plan/Products.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace octavo::compiler {

namespace {

/// The source of a side, in ascending order of preference for the right: computed anew in each run,
/// a recurring tensor, recurring codes.
enum class Coming { Anew, AsTensor, AsCodes };

/// At most this many parts of concatenations are inspected; beyond that a side counts as Anew.
constexpr std::size_t kMostJoined = 256;

/// The tensor of which `tensor` is slices, one for each of `products`. Null if it has no elements,
/// or its size is not a multiple of `products`.
mlir::Value slicedFrom(mlir::Value tensor, std::int64_t products, Conversions conversions) {
  const auto type = mlir::dyn_cast<mlir::RankedTensorType>(tensor.getType());
  const std::int64_t size = type && type.hasStaticShape() ? type.getNumElements() : 0;
  if (size == 0 || size % products != 0)
    return {};
  const Index number = Index::variable(0, size);
  Unknowns unknowns(1 + kMostChoices);
  return throughChoices({tensor, number}, 1, number.dividedBy(size / products)->quotient,
                        conversions, unknowns)
      .element.tensor;
}

/// Whether a tensor of `products` matrices is a recurring tensor, slices of it, or a concatenation
/// of these.
bool isOfKept(mlir::Value tensor, std::int64_t products, Conversions conversions) {
  llvm::SetVector<mlir::Value> open; // both to inspect and inspected
  open.insert(slicedFrom(tensor, products, conversions));
  for (std::size_t i = 0; i < open.size() && i < kMostJoined; ++i) {
    const mlir::Value memory = open[i];
    if (!memory)
      return false;
    if (auto joined = memory.getDefiningOp<stablehlo::ConcatenateOp>()) {
      for (mlir::Value part : joined.getInputs())
        open.insert(slicedFrom(part, 1, conversions));
      continue;
    }
    auto unpack = memory.getDefiningOp<ir::UnpackOp>();
    if (!comesAgain(unpack ? unpack.getOperand() : memory))
      return false;
  }
  return open.size() <= kMostJoined;
}

/// The source of a side of `products` matrices.
Coming comingOf(mlir::Value side, std::int64_t products) {
  const auto tensorIf = [&](mlir::Value tensor) {
    return isOfKept(tensor, products, Conversions::Widen) ? Coming::AsTensor : Coming::Anew;
  };
  if (!mlir::isa<ir::ScaledType>(side.getType()))
    return tensorIf(side);
  if (auto pack = side.getDefiningOp<ir::PackOp>())
    return isOfKept(pack.getElements(), products, Conversions::Stop) ? Coming::AsCodes
                                                                     : Coming::Anew;
  if (auto quantize = side.getDefiningOp<ir::QuantizeOp>())
    return quantize.getRandomBits() ? Coming::Anew : tensorIf(quantize.getOperand());
  return mlir::isa<mlir::BlockArgument>(side) && comesAgain(side) ? Coming::AsCodes : Coming::Anew;
}

std::size_t rankOf(mlir::Value side) {
  if (auto scaled = mlir::dyn_cast<ir::ScaledType>(side.getType()))
    return static_cast<std::size_t>(scaled.getRank());
  return shapeOf(side).size();
}

bool isWorthIt(stablehlo::DotGeneralOp dot) {
  // The matrices of a batch are packed in each run: a swap saves nothing.
  return plainType(dot) && dot.getDotDimensionNumbers().getLhsBatchingDimensions().empty() &&
         sizeOf(dot.getResult()) + sizeOf(dot.getRhs()) < sizeOf(dot.getLhs());
}

/// Kernels take floats, or a side that is quantized for the product, only on the left.
bool isWorthIt(ir::DotGeneralOp dot) {
  const auto type = mlir::cast<mlir::RankedTensorType>(dot.getResult().getType());
  auto quantize = dot.getRhs().getDefiningOp<ir::QuantizeOp>();
  return type.hasStaticShape() && mlir::isa<ir::ScaledType>(dot.getLhs().getType()) &&
         (quantize ? !quantize.getRandomBits()
                   : mlir::isa<mlir::RankedTensorType>(dot.getRhs().getType()));
}

template <typename Dot> void turn(Dot dot) {
  if (!isWorthIt(dot))
    return;
  const auto numbers = dot.getDotDimensionNumbers();
  const std::size_t batch = numbers.getLhsBatchingDimensions().size();
  const auto type = mlir::cast<mlir::RankedTensorType>(dot.getResult().getType());
  const std::int64_t products = numerics::elementCount(type.getShape().take_front(batch));
  if (products == 0 || comingOf(dot.getLhs(), products) <= comingOf(dot.getRhs(), products))
    return;
  const std::size_t contracted = numbers.getLhsContractingDimensions().size(),
                    left = rankOf(dot.getLhs()) - batch - contracted,
                    right = rankOf(dot.getRhs()) - batch - contracted;
  // Where each axis of the result lies in the result of the swapped dot.
  llvm::SmallVector<std::int64_t> places(batch + left + right);
  std::iota(places.begin(), places.end(), 0);
  const auto rows = places.begin() + static_cast<std::ptrdiff_t>(batch);
  std::rotate(rows, rows + static_cast<std::ptrdiff_t>(right), places.end());
  llvm::SmallVector<std::int64_t> shape(places.size());
  for (const auto [axis, place] : llvm::enumerate(places))
    shape[static_cast<std::size_t>(place)] = type.getShape()[axis];

  mlir::OpBuilder builder(dot);
  auto turned = mlir::cast<Dot>(builder.clone(*dot));
  turned.getLhsMutable().assign(dot.getRhs());
  turned.getRhsMutable().assign(dot.getLhs());
  turned.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      dot.getContext(), numbers.getRhsBatchingDimensions(), numbers.getLhsBatchingDimensions(),
      numbers.getRhsContractingDimensions(), numbers.getLhsContractingDimensions()));
  turned.getResult().setType(type.clone(shape));
  if constexpr (std::is_same_v<Dot, stablehlo::DotGeneralOp>)
    if (const mlir::ArrayAttr precision = dot.getPrecisionConfigAttr())
      turned.setPrecisionConfigAttr(
          builder.getArrayAttr(llvm::SmallVector<mlir::Attribute>(llvm::reverse(precision))));
  dot.getResult().replaceAllUsesWith(transposed(builder, dot.getLoc(), turned.getResult(), places));
  dot.erase();
}

} // namespace

void turnDots(mlir::ModuleOp module) {
  module.walk([](stablehlo::DotGeneralOp dot) { turn(dot); });
  module.walk([](ir::DotGeneralOp dot) { turn(dot); });
}

} // namespace octavo::compiler
