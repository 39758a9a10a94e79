// Windows that slide over axes: how they lie and how many fit.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Extents.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::stablehlo {

/// How windows lie on one axis.
struct WindowAxis {
  std::int64_t size = 1; ///< elements of a window
  std::int64_t stride = 1;
  std::int64_t low = 0, high = 0;  ///< padding; negative cuts elements off
  std::int64_t baseDilation = 1;   ///< step from one element of the axis to the next
  std::int64_t windowDilation = 1; ///< step from one element of a window to the next
};
using Window = std::vector<WindowAxis>;

/// How many windows fit an axis of `extent`; nothing where a number does not fit 63 bits or the
/// padding cuts off more than there is.
std::optional<std::int64_t> windowCount(std::int64_t extent, const WindowAxis& axis);

/// The attributes that say how windows lie; each may be absent (or empty), which stands for ones,
/// for no padding and for nothing reversed.
struct WindowAttributes {
  std::optional<llvm::ArrayRef<std::int64_t>> sizes, strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
};

/// The numbers of the constraints and the names of the attributes, in the order of
/// WindowAttributes: count and sign of each, then the shape of the padding.
struct WindowRules {
  struct OfList {
    llvm::StringLiteral name, count, positive;
  };
  OfList sizes, strides, baseDilations, windowDilations;
  llvm::StringLiteral padding;
};

/// The window of `rank` axes that the attributes describe, if they hold to the rules.
llvm::FailureOr<Window> verifyWindow(const Checker& check, const WindowRules& rules,
                                     std::int64_t rank, const WindowAttributes& attributes);

/// The same of attributes that are known to hold to the rules.
Window windowOf(std::int64_t rank, const WindowAttributes& attributes);

/// The extents of the result of a window over a shape; `rule` says that they are representable.
llvm::FailureOr<Extents> windowedExtents(const Checker& check, llvm::StringRef rule,
                                         llvm::ArrayRef<Extent> extents, const Window& window);

} // namespace octavo::stablehlo
