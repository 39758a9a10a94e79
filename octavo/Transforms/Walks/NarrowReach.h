// Which values of a program are computed from codes of narrow formats.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace octavo::transforms {

/// What counts as narrow.
enum class Narrow : std::uint8_t {
  Codes,         ///< codes, including integers that hold them: MXINT8, and codes decoded by
                 ///< arithmetic
  CodesAndScales ///< codes, and also every E8M0 tensor
};

/// Answers, and caches, whether values depend on narrow tensors. A value's answer is that of the
/// program when it is first asked.
class NarrowReach {
public:
  explicit NarrowReach(Narrow sought = Narrow::Codes) : sought(sought) {}

  /// Whether `value` is computed from a narrow tensor without a dot, a convolution, a reduction or
  /// a comparison between them. A value that a loop carries must be so in every iteration but
  /// possibly the first.
  bool covers(mlir::Value value);

private:
  Narrow sought;
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace octavo::transforms
