// Makes products of scaled tensors of the dots of a program that dequantizes by hand, and tells of
// each dot that looks narrow what stands in the way. The pass octavo-recover-scaled is this
// function.
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

enum class DotWidth : std::uint8_t {
  Wide,   ///< nothing narrow is among what its operands are computed from
  Narrow, ///< a product of scaled tensors
  Missed, ///< narrow tensors are, but it multiplies wide ones
};

/// What became of one dot, or of what means one (xla.scaled_dot, __op$block_scaled_dot).
struct RecoveredDot {
  std::string name; ///< from its location, else its place in the source
  std::string function;
  mlir::Location location;
  DotWidth width = DotWidth::Wide;
  std::string lhs = {},
              rhs =
                  {}; ///< "f8E4M3FN by f32, block [4, 64]"; of a side that is not scaled, its type
  std::array<bool, 2> isScaled = {};       ///< of a narrow one: which sides are scaled tensors
  std::optional<double> multiplyAdds = {}; ///< none where an extent is unknown
  /// Of a missed one, and of one that is one-sided: the operation, where it stands, what it does,
  /// and what to change.
  std::string obstacle = {}, place = {}, reason = {}, remedy = {};
  std::string note = {}; ///< of a narrow one: values that differ from the program's; mostly empty

  /// A narrow one that multiplies wide values on one side, though narrow ones are behind them.
  bool isOneSided() const { return width == DotWidth::Narrow && !obstacle.empty(); }
};

struct RecoverReport {
  std::vector<RecoveredDot> dots; ///< in the order of the program

  std::int64_t count(DotWidth width) const;
  std::int64_t countOneSided() const;
  /// The share of the multiplications and additions, of the dots whose extents are known, that are
  /// of scaled tensors; nothing of none.
  std::optional<double> narrowShare() const;
};

/// Rewrites the dots of a verified module.
RecoverReport recoverScaled(mlir::ModuleOp module);

/// The same of these dots alone, a record for each.
RecoverReport recoverDots(llvm::ArrayRef<stablehlo::DotGeneralOp> dots);

} // namespace octavo::transforms
