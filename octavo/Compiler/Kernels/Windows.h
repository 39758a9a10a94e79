// Windows that slide over a tensor, in the code of kernels.
#pragma once

#include "octavo/Compiler/Kernels/Elements.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::compiler {

/// Where element `place` of window number `window` of an axis lies in that axis. `isInside`, null
/// for always, says whether it is an element at all; where it is none, the index is that of
/// another.
struct WindowElement {
  Index index;
  llvm::Value* isInside = nullptr;
};
WindowElement windowElement(Elements& elements, const stablehlo::WindowAxis& axis,
                            std::int64_t extent, const Index& window, const Index& place);

/// Goes over places of windows of these sizes, row-major, with values that are carried on: few in a
/// row, many in loops.
using AtPlace = llvm::function_ref<Elements::Values(llvm::ArrayRef<Index> place,
                                                    const Elements::Values& running)>;
Elements::Values overPlaces(Elements& elements, llvm::ArrayRef<std::int64_t> sizes,
                            Elements::Values first, AtPlace next);

/// The convolution's window on each spatial axis.
stablehlo::Window windowOf(stablehlo::ConvolutionOp op);

/// The window on each axis of the inputs.
stablehlo::Window windowOf(stablehlo::ReduceWindowOp op);

} // namespace octavo::compiler
