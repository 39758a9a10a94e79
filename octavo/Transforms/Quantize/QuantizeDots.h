// Quantizes the dots of a program: chooses formats for each, rewrites it, and records what happened
// to each. The pass octavo-quantize-dots is this function.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Transforms/Quantize/DelayedScales.h"
#include "octavo/Transforms/Quantize/QuantizeCaches.h"
#include "octavo/Transforms/Quantize/StaticScales.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::transforms {

/// What happens to a dot of two activations.
enum class ActivationPairs : std::uint8_t { Leave, Quantize };

/// Where a weight is quantized.
enum class WeightTime : std::uint8_t {
  Ahead,     ///< constants: while rewriting; arguments: when they are bound; if neither is
             ///< possible, in the program
  InProgram, ///< by an operation of the program, in every run
};

/// The formats and settings of a quantized dot.
struct DotFormats {
  const format::ScaledFormat* weights = nullptr;     ///< never null in a quantized dot
  const format::ScaledFormat* activations = nullptr; ///< null: activations stay as they are
  /// Format of gradients, the values that differentiation added (docs/recipes.md); nullopt: as
  /// activations.
  std::optional<const format::ScaledFormat*> gradients;
  std::string preset;                           ///< excludes the next two; empty: those decide
  std::optional<format::ScaleRule> rule;        ///< nullopt: each format's default
  std::optional<numerics::NonFinite> nonFinite; ///< nullopt: refused
  /// The calibration whose ranges give activations static scales; null: scales come from the values
  /// of each run.
  std::shared_ptr<const StaticScales> scales;
  analysis::RangeChoice range;
  /// Scales come from earlier steps and are state of the program; nullopt: from the values.
  /// Excludes `preset`, `rule`, `nonFinite`, `scales` and `moved`.
  std::optional<DelayedScaling> delayed;
  /// Gradients are rounded stochastically (N5). The random numbers are state of the program.
  bool roundsGradientsAtRandom = false;
  /// In a product of a gradient and activations, both sides are multiplied by a random Hadamard
  /// matrix (RandomState.h) of this many rows, along the contracted axis. 0: not rotated.
  std::int64_t hadamard = 0;
  /// The calibration by which powers of two move from columns of activations to columns of weights
  /// (ColumnExponents.h); null: none move. `strength`, from 0 to 1: how far the columns of
  /// activations are evened out.
  std::shared_ptr<const StaticScales> moved;
  double strength = 0.5;

  const format::ScaledFormat* ofGradients() const { return gradients.value_or(activations); }
};

/// The layers that a rule applies to: the first or the last of the forward pass (DotLayers.h), or
/// those that choose experts (Routers.h).
enum class DotPlace : std::uint8_t { Any, First, Last, Router };

/// How recipes spell a place. Any has no name.
struct DotPlaceRow {
  std::string_view name;
  DotPlace place;
};
inline constexpr DotPlaceRow kDotPlaces[] = {
    {"first", DotPlace::First}, {"last", DotPlace::Last}, {"router", DotPlace::Router}};

/// A rule of a recipe. It applies to a dot that meets all its conditions.
struct DotRule {
  std::string where; ///< the rule's position, for messages: "model.json: rules[0]"
  /// Names of dots or of their weights; one of them must match. A name is exact, or, after `re:`, a
  /// regular expression (RE2) that may match anywhere. Empty: every dot.
  std::vector<std::string> names;
  DotPlace place = DotPlace::Any;
  std::optional<std::int64_t> smallerThan; ///< elements, counted as DotOptions::minSize does
  std::optional<std::string> keep;         ///< the reason to leave the dot; nullopt: it gets
                                           ///< `formats`
  DotFormats formats;
};

/// The rules of a recipe. A dot that no rule applies to is left.
struct Recipe {
  std::vector<DotRule> rules;
  std::vector<CacheRule> caches;
};

/// The formats of all dots. If there are rules, the first one that applies to a dot decides
/// instead. Of the formats given here, only `nonFinite` then matters: it is the policy of rules
/// that leave theirs open (no policy, preset or delayed scaling).
struct DotOptions : DotFormats, Recipe {
  /// Regular expressions (RE2) that may match anywhere in the name of a dot or of its weight. An
  /// empty `match` selects every dot, an empty `exclude` none.
  std::string match;
  std::string exclude;
  std::string parameters;   ///< regular expression: arguments with a match are weights, besides
                            ///< those marked so
  std::int64_t minSize = 0; ///< smallest number of elements of the weight; without a weight, of the
                            ///< larger side
  ActivationPairs activationPairs = ActivationPairs::Leave;
  WeightTime weightTime = WeightTime::Ahead;
  /// The number of a dot, in program order, that is left whatever the other options say.
  std::optional<std::size_t> kept;
};

/// What happened to one dot.
struct DotRecord {
  std::string name; ///< from its location: "jit(encode)/layer0/attention/query/dot_general"
  std::string function;
  mlir::Location location;
  std::optional<std::int64_t> batch = {}, m = {}, n = {},
                              k = {}; ///< nullopt if the extent is unknown
  bool isQuantized = false;
  std::string reason = {}; ///< why the dot was left; else when its weight is quantized, and why
                           ///< then
  std::string weight = {}; ///< argument name or "constant"; empty: the dot has no weight
  /// Indices in DotReport::weights of the weights on either side.
  std::vector<std::size_t> weightRecords = {};
  /// If the dot has no weight: the program's arguments that its operands are, at most moved. With
  /// DotOptions::parameters they can be declared weights.
  std::vector<std::string> arguments = {};
  const format::ScaledFormat* lhs = nullptr; ///< null: not scaled
  const format::ScaledFormat* rhs = nullptr;
  std::optional<float> lhsAmax = {}, rhsAmax = {}; ///< of static scales; nullopt: the scale is not
                                                   ///< static
  std::array<bool, 2> isWeight = {};               ///< left and right side

  /// `768x384x384` (M, N, K), preceded by the batch extent if there are batch axes; `?` for an
  /// unknown extent.
  std::string sizes() const;
};

/// A matrix product other than a dot_general; it is left as it is.
struct OtherProduct {
  std::string name;
  std::string function;
  mlir::Location location;
  std::string reason; ///< what kind of operation it is
};

/// A weight of any dot, quantized or not.
struct WeightRecord {
  std::string name;
  std::int64_t elements;
  std::int64_t bitsBefore;
  std::int64_t bitsAfter; ///< elements and scales if quantized ahead; else bitsBefore
};

/// The delayed scales that a function takes and returns.
struct DelayedRecord {
  std::string function;
  std::int64_t tensors, history;
};

/// What quantizeDots did to a program.
struct DotReport {
  std::vector<DotRecord> dots;      ///< in the order of the program
  std::vector<OtherProduct> others; ///< in the order of the program
  std::vector<WeightRecord> weights;
  std::vector<DelayedRecord> delayed;
  std::vector<std::string> random; ///< functions that take and return octavo.random
  std::vector<CacheRecord> caches; ///< in the order of the arguments

  /// Number of quantized dots.
  std::int64_t quantized() const;
  /// Why the first dot that is left, or else the first other product, is left: `of NAME: REASON`.
  /// Without either: `the program has no dots`.
  std::string whyLeft() const;
  /// One line for each cache that a rule gives a format but that is left, with the reason.
  std::vector<std::string> leftCaches() const;
  /// Whether the rewriting added or changed arguments and results of the program.
  bool hasState() const;
  /// Bits of all weights, before and after quantization.
  std::int64_t weightBitsBefore() const;
  std::int64_t weightBitsAfter() const;
};

/// The default activations' format for a weights' format, from its row of the table.
const format::ScaledFormat* defaultActivations(const format::ScaledFormat& weights);

/// Fails if the options contradict one another or a regular expression is invalid, whatever the
/// program. The error of a rule starts with its position in the recipe.
llvm::Error checkOptions(const DotOptions& options);

/// Quantizes the dots and the caches of a verified module. Dots that are left and read a quantized
/// cache then multiply its codes. On an error the module is unchanged. The error is one of:
/// - an error of checkOptions;
/// - a rule's name, or a pattern, that matches no dot or argument;
/// - rules for caches, but no cache;
/// - a constant weight with a NaN or Inf that the policy refuses.
llvm::Expected<DotReport> quantizeDots(mlir::ModuleOp module, const DotOptions& options);

} // namespace octavo::transforms
