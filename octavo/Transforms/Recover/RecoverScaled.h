// Turns dots of tensors that a program dequantizes by hand into products of scaled tensors.
// Reports, for each other dot that looks narrow, the operation that prevents it. The pass
// octavo-recover-scaled is this function.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::transforms {

/// How a dot multiplies.
enum class DotWidth : std::uint8_t {
  Wide,   ///< its operands do not depend on narrow tensors
  Narrow, ///< a product of scaled tensors
  Missed, ///< its operands depend on narrow tensors, but it multiplies wide ones
};

/// The result for one dot, or for an operation that means one (xla.scaled_dot,
/// __op$block_scaled_dot).
struct RecoveredDot {
  std::string name; ///< from its location; else FILE:LINE:COLUMN
  std::string function;
  mlir::Location location;
  DotWidth width = DotWidth::Wide;
  std::string lhs = {},
              rhs =
                  {}; ///< "f8E4M3FN by f32, block [4, 64]"; of a side that is not scaled, its type
  std::array<bool, 2> isScaled = {};       ///< if narrow: which sides are scaled tensors
  std::optional<double> multiplyAdds = {}; ///< nullopt if an extent is unknown
  /// If missed or one-sided: the operation that prevents it, its location, what it does, and what
  /// to change.
  std::string obstacle = {}, place = {}, reason = {}, remedy = {};
  std::string note = {}; ///< if narrow: the values that differ from the program's; mostly empty

  /// Whether a narrow dot multiplies wide values on one side, though narrow tensors are behind
  /// them.
  bool isOneSided() const { return width == DotWidth::Narrow && !obstacle.empty(); }
};

/// What recoverScaled found and did.
struct RecoverReport {
  std::vector<RecoveredDot> dots; ///< in the order of the program

  /// Number of dots of a width; below, of those that are one-sided.
  std::int64_t count(DotWidth width) const;
  std::int64_t countOneSided() const;
  /// The share of multiply-adds in products of scaled tensors, among dots of known extents; nullopt
  /// if there are none.
  std::optional<double> narrowShare() const;
};

/// Rewrites all dots of a verified module.
RecoverReport recoverScaled(mlir::ModuleOp module);

/// Rewrites only `dots`; the report has one record for each.
RecoverReport recoverDots(llvm::ArrayRef<stablehlo::DotGeneralOp> dots);

} // namespace octavo::transforms
