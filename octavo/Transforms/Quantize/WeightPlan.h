// Plans which weights are quantized once, ahead of the runs, and which in every run.
#pragma once

#include "octavo/Transforms/Quantize/ConstantQuantization.h"
#include "octavo/Transforms/Quantize/DotChoice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <optional>
#include <vector>

namespace octavo::transforms {

/// How a root (a constant or an argument) is quantized ahead. If it is an argument of a private
/// function, the calls pass scaled tensors, themselves quantized ahead or by the caller.
struct AheadRoot {
  ir::ScaledType type;
  ir::QuantizationAttr quantization;
  std::optional<QuantizedConstant> constant;                  ///< nullopt for an argument
  std::int64_t axis = 0;                                      ///< axis of `exponents`
  std::shared_ptr<const ColumnExponents> exponents = nullptr; ///< powers of two that multiply the
                                                              ///< columns first; null: none
};

/// How a side of a dot, or an operand of a call, uses a root that is quantized ahead.
struct AheadSide {
  mlir::Value root;
  llvm::SmallVector<std::int64_t> batching, contracting; ///< axes of the root, or of `moved` if
                                                         ///< that is set
  /// The type of the codes and scales after `movement` has been applied to them. Null: the root is
  /// used as it is.
  ir::ScaledType moved = {};
  llvm::SmallVector<mlir::Operation*> movement = {}; ///< data movement, from the operand back to
                                                     ///< the root
};

/// The decision, for each weight of the quantized dots, whether it is quantized ahead.
class WeightPlan {
public:
  /// Plans for all dots whose sides have formats. Does not change the program. Fails if a constant
  /// has a NaN or Inf that the policy refuses.
  static llvm::Expected<WeightPlan> make(const DotChoice& choice, llvm::ArrayRef<Dot> dots);

  /// The roots that are quantized ahead.
  const llvm::MapVector<mlir::Value, AheadRoot>& roots() const { return ahead; }

  /// How operand `index` of a dot or a call uses its weight; null if the weight is quantized there.
  const AheadSide* find(mlir::Operation* user, unsigned index) const;
  const AheadSide* find(const DotSide& side) const {
    stablehlo::DotGeneralOp op = side.op;
    return find(op, side.index);
  }

  /// Why a weight is quantized in the program; empty if it is not, or if the options ask for it.
  std::string reasonInProgram(const DotSide& side) const;

private:
  using SideKey = std::pair<mlir::Operation*, unsigned>;
  friend class Planner;

  std::string reasonOf(mlir::Value root) const;
  void findReason(mlir::Value root) const;

  llvm::MapVector<mlir::Value, AheadRoot> ahead;
  llvm::DenseMap<mlir::Value, std::string> reasons;
  /// For an argument of a private function: the roots of the operands of its calls.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> given;
  mutable llvm::DenseMap<mlir::Value, std::string> found; ///< cache of reasonOf
  std::map<SideKey, AheadSide> sides;
};

/// The private function that `root` is an argument of; null if there is none.
mlir::func::FuncOp privateFunctionOf(mlir::Value root);

/// The scaled type of a tensor of `shape` with blocks along axis `contracted`.
ir::ScaledType scaledType(mlir::MLIRContext* context, const format::ScaledFormat& format,
                          llvm::ArrayRef<std::int64_t> shape, std::int64_t contracted);

} // namespace octavo::transforms
