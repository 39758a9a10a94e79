// Which dots are quantized, and to what.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/ColumnExponents.h"
#include "octavo/Transforms/DotLayers.h"
#include "octavo/Transforms/MergedAxes.h"
#include "octavo/Transforms/QuantizeDots.h"
#include "octavo/Transforms/WeightTrace.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace octavo::transforms {

/// One operand of a dot.
struct DotSide {
  stablehlo::DotGeneralOp op;
  unsigned index; ///< 0 left, 1 right
  llvm::SmallVector<std::int64_t> batching;
  llvm::SmallVector<std::int64_t> contracting;
  WeightTrace trace;
  bool isGradient; ///< computed by the derivative of the program, as its name says
  const format::ScaledFormat* format = nullptr; ///< what it is quantized to; null: it is not
  const DotFormats* settings = nullptr;         ///< whose rule or preset it is quantized with
  std::optional<float> amax = {};               ///< for a static scale of the tensor
  /// Powers of two that are moved from activations to weights in the columns; null: none.
  std::shared_ptr<const ColumnExponents> exponents = {};
  /// Of a convolution's kernel: at each place of its windows.
  std::optional<std::int64_t> features = {};

  mlir::Value value() const { return op->getOperand(index); }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value().getType());
  }
  bool isWeight() const { return trace.origin != Origin::Computed; }
  bool isRoundedAtRandom() const {
    return format && isGradient && settings->roundsGradientsAtRandom;
  }
  /// Axes that are neither batching nor contracting, in order.
  llvm::SmallVector<std::int64_t> freeAxes() const;
  /// The axes as it is quantized.
  MergedAxes merged() const { return mergeContracted(type().getShape(), batching, contracting); }
  /// Elements of the contracted axes; nothing where an extent is unknown.
  std::optional<std::int64_t> columns() const;
};

struct Dot {
  std::array<DotSide, 2> sides;
  DotRecord record;

  stablehlo::DotGeneralOp op() const { return sides[0].op; }
  /// The weight; the right side of two, null of none.
  const DotSide* weight() const {
    return sides[1].isWeight() ? &sides[1] : sides[0].isWeight() ? &sides[0] : nullptr;
  }
  /// The product of a gradient and something else; two gradients make none.
  bool hasGradient() const { return sides[0].isGradient != sides[1].isGradient; }
  /// How many elements of the contracted axis its sides are rotated at a time; 0: they are not.
  std::int64_t hadamard() const {
    return hasGradient() && !weight() && sides[0].format ? sides[0].settings->hadamard : 0;
  }
};

/// The options with their regular expressions compiled. Dots that are decided point into it.
class DotChoice {
public:
  static llvm::Expected<DotChoice> make(const DotOptions& options);
  DotChoice(DotChoice&&) = default;

  /// Where a value comes from.
  WeightTrace trace(mlir::Value value) const;

  /// What there is to know of a dot before anything is decided.
  Dot describe(stablehlo::DotGeneralOp op) const;

  /// Looks at the program as a whole, before dots are decided: the layers that have a place, the
  /// activations that meet weights, and whether each name of a rule is that of a dot. The error
  /// names the rule and near names.
  llvm::Error look(llvm::ArrayRef<Dot> dots);

  /// Gives the sides their formats, or says why the dot is left.
  std::string reasonToLeave(Dot& dot) const;

  /// How a side's tensor is quantized to `type`, which is of its format.
  static ir::QuantizationAttr quantization(const DotSide& side, ir::ScaledType type);

  const DotOptions& options() const { return chosen; }

private:
  explicit DotChoice(const DotOptions& options) : chosen(options) {}

  bool isParameter(mlir::BlockArgument argument, llvm::StringRef name) const;
  std::string reasonByName(const Dot& dot) const;
  bool takes(const DotRule& rule, std::size_t index, const Dot& dot) const;
  bool isWeightGradient(const Dot& dot) const;
  std::string chooseFormats(Dot& dot) const;
  std::string reasonByDetour(const Dot& dot) const;
  std::string reasonByCalls(const Dot& dot) const;
  static std::string reasonByEdges(const Dot& dot);

  DotOptions chosen;
  std::shared_ptr<const re2::RE2> match, exclude, parameters;
  /// Of each rule, of each name: the regular expression; null where it is a whole name.
  std::vector<std::vector<std::shared_ptr<const re2::RE2>>> patterns;
  std::optional<DotLayers> layers; ///< of the places that rules name; none: they name none
  llvm::DenseSet<mlir::Value> besideWeights; ///< activations, where they are computed
};

} // namespace octavo::transforms
