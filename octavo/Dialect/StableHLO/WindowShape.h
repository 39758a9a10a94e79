// The geometry of windows that slide over axes.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Extents.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::stablehlo {

/// The windows on one axis.
struct WindowAxis {
  std::int64_t size = 1; ///< elements in a window
  std::int64_t stride = 1;
  std::int64_t low = 0, high = 0;  ///< padding; negative cuts elements off
  std::int64_t baseDilation = 1;   ///< step from one element of the axis to the next
  std::int64_t windowDilation = 1; ///< step from one element of a window to the next
};
using Window = std::vector<WindowAxis>;

/// The number of windows on an axis of `extent` elements. nullopt: a number does not fit 63 bits,
/// or negative padding removes more elements than there are.
std::optional<std::int64_t> windowCount(std::int64_t extent, const WindowAxis& axis);

/// The attributes that describe windows. An absent or empty attribute means ones, or no padding.
struct WindowAttributes {
  std::optional<llvm::ArrayRef<std::int64_t>> sizes, strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
};

/// The numbers of the constraints and the names of the attributes. For each list: its length and
/// its sign; then the shape of the padding.
struct WindowRules {
  struct OfList {
    llvm::StringLiteral name, count, positive;
  };
  OfList sizes, strides, baseDilations, windowDilations;
  llvm::StringLiteral padding;
};

/// Verifies the attributes and returns the window, which has `rank` axes.
llvm::FailureOr<Window> verifyWindow(const Checker& check, const WindowRules& rules,
                                     std::int64_t rank, const WindowAttributes& attributes);

/// The window of attributes that are valid.
Window windowOf(std::int64_t rank, const WindowAttributes& attributes);

/// The extents of the result of a window over a tensor. Reports `rule` if an extent is negative or
/// does not fit 63 bits.
llvm::FailureOr<Extents> windowedExtents(const Checker& check, llvm::StringRef rule,
                                         llvm::ArrayRef<Extent> extents, const Window& window);

} // namespace octavo::stablehlo
