#include "octavo/Compiler/Kernels/Windows.h"

namespace octavo::compiler {

WindowElement windowElement(Elements& elements, const stablehlo::WindowAxis& axis,
                            std::int64_t extent, const Index& window, const Index& place) {
  const Index dilated = window * axis.stride + place * axis.windowDilation;
  if (axis.low <= 0 && axis.baseDilation == 1 && isLess(dilated.largest() - axis.low, extent))
    return {dilated + (-axis.low)};
  llvm::IRBuilder<>& b = elements.b;
  llvm::Value* at = elements.code(dilated + (-axis.low));
  llvm::Value* isInside = b.CreateICmpSGE(at, b.getInt64(0));
  if (axis.baseDilation != 1) {
    at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b.getInt64(0));
    llvm::Value* step = b.getInt64(axis.baseDilation);
    isInside = b.CreateAnd(isInside, b.CreateICmpEQ(b.CreateURem(at, step), b.getInt64(0)));
    at = b.CreateUDiv(at, step);
  }
  isInside = b.CreateAnd(isInside, b.CreateICmpSLT(at, b.getInt64(extent)));
  at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b.getInt64(0));
  at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, b.getInt64(extent - 1));
  return {Index::variable(elements.define(at, extent), extent), isInside};
}

namespace {

/// At most this many places are unrolled, so that the loop over columns can be vectorized.
constexpr std::int64_t kWrittenOut = 32;

Elements::Values overAxes(Elements& elements, llvm::ArrayRef<std::int64_t> sizes,
                          llvm::SmallVector<Index>& place, Elements::Values running, AtPlace next) {
  const std::size_t axis = place.size();
  if (axis == sizes.size())
    return next(place, running);
  std::int64_t left = 1;
  for (const std::int64_t size : sizes.drop_front(axis))
    left *= size;
  const auto at = [&](Index index, Elements::Values values) {
    place.push_back(std::move(index));
    values = overAxes(elements, sizes, place, std::move(values), next);
    place.pop_back();
    return values;
  };
  if (left <= kWrittenOut || sizes[axis] == 1) {
    for (std::int64_t i = 0; i < sizes[axis]; ++i)
      running = at(Index(i), std::move(running));
    return running;
  }
  return elements.repeat(
      sizes[axis], running, [&](llvm::Value* turn, const Elements::Values& values) {
        return at(Index::variable(elements.define(turn, sizes[axis]), sizes[axis]), values);
      });
}

} // namespace

Elements::Values overPlaces(Elements& elements, llvm::ArrayRef<std::int64_t> sizes,
                            Elements::Values first, AtPlace next) {
  llvm::SmallVector<Index> place;
  return overAxes(elements, sizes, place, std::move(first), next);
}

stablehlo::Window windowOf(stablehlo::ConvolutionOp op) {
  const auto numbers = op.getDimensionNumbers();
  llvm::SmallVector<std::int64_t> sizes;
  for (const std::int64_t axis : numbers.getKernelSpatialDimensions())
    sizes.push_back(shapeOf(op.getRhs())[static_cast<std::size_t>(axis)]);
  return stablehlo::windowOf(static_cast<std::int64_t>(sizes.size()),
                             {.sizes = llvm::ArrayRef<std::int64_t>(sizes),
                              .strides = op.getWindowStrides(),
                              .baseDilations = op.getLhsDilation(),
                              .windowDilations = op.getRhsDilation(),
                              .padding = op.getPadding()});
}

stablehlo::Window windowOf(stablehlo::ReduceWindowOp op) {
  return stablehlo::windowOf(static_cast<std::int64_t>(op.getWindowDimensions().size()),
                             {.sizes = op.getWindowDimensions(),
                              .strides = op.getWindowStrides(),
                              .baseDilations = op.getBaseDilations(),
                              .windowDilations = op.getWindowDilations(),
                              .padding = op.getPadding()});
}

} // namespace octavo::compiler
