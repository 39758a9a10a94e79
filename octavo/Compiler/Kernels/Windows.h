// Windows that slide over a tensor, in the code of kernels.
#pragma once

#include "octavo/Compiler/Kernels/Elements.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::compiler {

/// The index along an axis of element `place` of window number `window`. `isInside` says whether
/// that element exists; null: always. If it does not, the index is that of another element.
struct WindowElement {
  Index index;
  llvm::Value* isInside = nullptr;
};
WindowElement windowElement(Elements& elements, const stablehlo::WindowAxis& axis,
                            std::int64_t extent, const Index& window, const Index& place);

/// Visits the places of a window of these sizes, row-major, and carries values from place to place.
/// Few places are unrolled, many are loops.
using AtPlace = llvm::function_ref<Elements::Values(llvm::ArrayRef<Index> place,
                                                    const Elements::Values& running)>;
Elements::Values overPlaces(Elements& elements, llvm::ArrayRef<std::int64_t> sizes,
                            Elements::Values first, AtPlace next);

/// The convolution's window on each spatial axis.
stablehlo::Window windowOf(stablehlo::ConvolutionOp op);

/// The window on each axis of the inputs.
stablehlo::Window windowOf(stablehlo::ReduceWindowOp op);

} // namespace octavo::compiler
