// Chooses which dots are quantized, and the formats of their sides.
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
  bool isGradient;                              ///< the backward pass computes it, by its name
  const format::ScaledFormat* format = nullptr; ///< its format; null: not quantized
  const DotFormats* settings = nullptr;         ///< the settings that `format` comes from
  std::optional<float> amax = {};               ///< amax for a static scale; nullopt: not static
  /// Exponents that move from columns of activations to columns of weights; null: none.
  std::shared_ptr<const ColumnExponents> exponents = {};
  /// Of a convolution's kernel: the number of features at each place of a window.
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
  /// The extents; works also after a weight has been replaced by a scaled tensor.
  llvm::ArrayRef<std::int64_t> shape() const {
    const auto scaled = llvm::dyn_cast<ir::ScaledType>(value().getType());
    return scaled ? scaled.getShape() : type().getShape();
  }
  /// How the contracted axes become one when the side is quantized.
  MergedAxes merged() const { return mergeContracted(shape(), batching, contracting); }
  /// Product of the contracted extents; nullopt if one is unknown.
  std::optional<std::int64_t> columns() const;
};

/// A dot, its sides, and the record of the decision about it.
struct Dot {
  std::array<DotSide, 2> sides;
  DotRecord record;

  stablehlo::DotGeneralOp op() const { return sides[0].op; }
  /// The side that is a weight, the right one if both are; null if neither is.
  const DotSide* weight() const {
    return sides[1].isWeight() ? &sides[1] : sides[0].isWeight() ? &sides[0] : nullptr;
  }
  /// Whether exactly one side is a gradient.
  bool hasGradient() const { return sides[0].isGradient != sides[1].isGradient; }
  /// Rows of the Hadamard matrix that rotates both sides; 0: not rotated.
  std::int64_t hadamard() const {
    return hasGradient() && !weight() && sides[0].format ? sides[0].settings->hadamard : 0;
  }
};

/// The options, their regular expressions compiled, and the facts about the program by which dots
/// are chosen. Chosen dots point into the options.
class DotChoice {
public:
  /// Compiles the options; fails as checkOptions does.
  static llvm::Expected<DotChoice> make(const DotOptions& options);
  DotChoice(DotChoice&&) = default;

  /// Analyzes a program. To be called before any query, and again after the program has changed.
  void take(mlir::ModuleOp program);

  /// The call graph of the program.
  ProgramCalls& calls() const { return facts->calls; }

  /// The origin of a value.
  const WeightTrace& trace(mlir::Value value) const { return facts->traces.of(value); }

  /// The sides and the record of a dot, before a format is chosen.
  Dot describe(stablehlo::DotGeneralOp op) const;

  /// Finds facts that depend on all dots: the layers at each place that rules name, and the
  /// activations that meet weights. Fails if a rule's name matches no dot; the error names the rule
  /// and near names.
  llvm::Error look(llvm::ArrayRef<Dot> dots);

  /// Sets the formats of the sides and returns ""; or returns the reason to leave the dot.
  std::string reasonToLeave(Dot& dot) const;

  /// The settings by which a side's tensor is quantized to `type`, a type of the side's format.
  static ir::QuantizationAttr quantization(const DotSide& side, ir::ScaledType type);

  const DotOptions& options() const { return chosen; }

private:
  /// How a computed value depends on weights.
  struct Detour {
    bool isOfWeights = false;            ///< computed from weights and constants alone
    std::string weight = {};             ///< name of the first weight
    mlir::Operation* obstacle = nullptr; ///< operation that computes the value, calls looked
                                         ///< through; null for a weight
  };

  explicit DotChoice(const DotOptions& options) : chosen(options) {}

  /// Facts of a program; each function and value is analyzed once.
  struct Facts {
    Facts(mlir::ModuleOp program, WeightTraces::IsParameter isParameter)
        : calls(program), derivatives(calls), traces(calls, std::move(isParameter)) {}

    ProgramCalls calls;
    Derivatives derivatives;
    WeightTraces traces;
    llvm::DenseMap<mlir::Value, Detour> detours;
    llvm::DenseMap<mlir::Value, std::string> reasonsByCalls; ///< keys: arguments
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
  /// The regular expression of each name of each rule; null if the name is exact.
  std::vector<std::vector<std::shared_ptr<const re2::RE2>>> patterns;
  /// Indices of rules by their exact names.
  llvm::StringMap<std::vector<std::size_t>> rulesByName;
  std::vector<std::size_t> otherRules;
  std::unique_ptr<Facts> facts;
  std::optional<DotLayers> layers; ///< layers at the places that rules name; nullopt: rules name no
                                   ///< place
  llvm::DenseSet<mlir::Value> besideWeights; ///< activations that meet weights, as computedAs gives
                                             ///< them
};

} // namespace octavo::transforms
