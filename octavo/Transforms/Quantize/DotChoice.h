// Which dots are quantized, and to what.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Quantize/ColumnExponents.h"
#include "octavo/Transforms/Quantize/DelayedScales.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Quantize/RandomState.h"
#include "octavo/Transforms/Walks/Derivatives.h"
#include "octavo/Transforms/Walks/DotLayers.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/MergedAxes.h"
#include "octavo/Transforms/Walks/WeightTrace.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

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
  /// Of a weight, too, that has become a scaled tensor meanwhile.
  llvm::ArrayRef<std::int64_t> shape() const {
    const auto scaled = llvm::dyn_cast<ir::ScaledType>(value().getType());
    return scaled ? scaled.getShape() : type().getShape();
  }
  /// The axes as it is quantized.
  MergedAxes merged() const { return mergeContracted(shape(), batching, contracting); }
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

  /// Takes a program as it stands: to be called before anything is asked about it, and again when
  /// it has changed.
  void take(mlir::ModuleOp program);

  /// Who calls whom in the program.
  ProgramCalls& calls() const { return facts->calls; }

  /// Where a value comes from.
  const WeightTrace& trace(mlir::Value value) const { return facts->traces.of(value); }

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
  /// How a value is computed of weights.
  struct Detour {
    bool isOfWeights = false;            ///< and constants alone
    std::string weight = {};             ///< the first
    mlir::Operation* obstacle = nullptr; ///< what makes it something else, the nearest to the value
  };

  explicit DotChoice(const DotOptions& options) : chosen(options) {}

  /// What is known of a program, each function and value of which is looked at once.
  struct Facts {
    Facts(mlir::ModuleOp program, WeightTraces::IsParameter isParameter)
        : calls(program), derivatives(calls), traces(calls, std::move(isParameter)) {}

    ProgramCalls calls;
    Derivatives derivatives;
    WeightTraces traces;
    llvm::DenseMap<mlir::Value, Detour> detours;
    llvm::DenseMap<mlir::Value, std::string> reasonsByCalls; ///< of arguments
    StateReach state{calls};
    RoundsReach rounds{calls};
  };

  bool isParameter(mlir::BlockArgument argument, llvm::StringRef name) const;
  const Detour& detourTo(mlir::Value value) const;
  void findDetour(mlir::Value value) const;
  llvm::SmallVector<mlir::Value> madeOf(mlir::Value value) const;
  std::string reasonByDelay(const Dot& dot) const;
  std::string reasonByRandomState(const Dot& dot) const;
  std::string reasonByName(const Dot& dot) const;
  bool takes(const DotRule& rule, std::size_t index, const Dot& dot) const;
  bool isWeightGradient(const Dot& dot) const;
  std::string chooseFormats(Dot& dot) const;
  std::string reasonByDetour(const Dot& dot) const;
  std::string reasonByCalls(const Dot& dot) const;
  const std::string& reasonByCalls(mlir::BlockArgument argument) const;
  std::vector<std::size_t> rulesFor(const Dot& dot) const;
  void order(std::size_t index);
  static std::string reasonByEdges(const Dot& dot);

  DotOptions chosen;
  std::shared_ptr<const re2::RE2> match, exclude, parameters;
  /// Of each rule, of each name: the regular expression; null where it is a whole name.
  std::vector<std::vector<std::shared_ptr<const re2::RE2>>> patterns;
  /// Rules by a whole name that they have, and those that have other names or none, in order.
  llvm::StringMap<std::vector<std::size_t>> rulesByName;
  std::vector<std::size_t> otherRules;
  std::unique_ptr<Facts> facts;
  std::optional<DotLayers> layers; ///< of the places that rules name; none: they name none
  llvm::DenseSet<mlir::Value> besideWeights; ///< activations, where they are computed
};

} // namespace octavo::transforms
