// Which weights are quantized once, ahead of the program's runs, and which in the program.
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

/// How a root, a constant or an argument, is quantized ahead. An argument of a private function is
/// scaled where it is called: what calls give is quantized ahead, too, or by the caller.
struct AheadRoot {
  ir::ScaledType type;
  ir::QuantizationAttr quantization;
  std::optional<QuantizedConstant> constant;                  ///< nothing for an argument
  std::int64_t axis = 0;                                      ///< of the next
  std::shared_ptr<const ColumnExponents> exponents = nullptr; ///< its columns are multiplied first
};

/// How a side of a dot, or an operand of a call, takes a root that is quantized ahead.
struct AheadSide {
  mlir::Value root;
  llvm::SmallVector<std::int64_t> batching, contracting; ///< axes in the root
  /// What is done to the codes and scales of the root, which then have the type `moved`, and the
  /// axes are those of that. Null: the root is taken as it is.
  ir::ScaledType moved = {};
  llvm::SmallVector<mlir::Operation*> movement = {}; ///< from the operand back to the root
};

class WeightPlan {
public:
  /// Plans for the dots whose sides have formats. Changes nothing; fails on a constant that the
  /// policy about NaN and Inf refuses.
  static llvm::Expected<WeightPlan> make(const DotChoice& choice, llvm::ArrayRef<Dot> dots);

  const llvm::MapVector<mlir::Value, AheadRoot>& roots() const { return ahead; }

  /// How an operand of a dot or of a call takes its weight; null if the weight is quantized there.
  const AheadSide* find(mlir::Operation* user, unsigned index) const;
  const AheadSide* find(const DotSide& side) const {
    stablehlo::DotGeneralOp op = side.op;
    return find(op, side.index);
  }

  /// Why a weight is quantized in the program; empty if it is not, or if that was asked for.
  std::string reasonInProgram(const DotSide& side) const;

private:
  using SideKey = std::pair<mlir::Operation*, unsigned>;
  friend class Planner;

  std::string reasonOf(mlir::Value root) const;
  void findReason(mlir::Value root) const;

  llvm::MapVector<mlir::Value, AheadRoot> ahead;
  llvm::DenseMap<mlir::Value, std::string> reasons;
  /// Of an argument of a private function: the roots of what its calls give.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> given;
  mutable llvm::DenseMap<mlir::Value, std::string> found; ///< of reasonOf
  std::map<SideKey, AheadSide> sides;
};

/// The function of a root that is an argument of a private one; null of another.
mlir::func::FuncOp privateFunctionOf(mlir::Value root);

/// Scaled type of a tensor of `shape` whose axis `contracted` is blocked along.
ir::ScaledType scaledType(mlir::MLIRContext* context, const format::ScaledFormat& format,
                          llvm::ArrayRef<std::int64_t> shape, std::int64_t contracted);

} // namespace octavo::transforms
