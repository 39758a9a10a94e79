// "Take my f32 program and make its dots MX": the choice of dots, their rewriting, and a record of
// what happened to each. The pass octavo-quantize-dots is this function.
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

/// What becomes of a dot that has no weight.
enum class ActivationPairs : std::uint8_t { Leave, Quantize };

/// Where a weight is quantized.
enum class WeightTime : std::uint8_t {
  Ahead,     ///< constants by the rewriting, arguments when they are bound; else in the program
  InProgram, ///< by an operation of the program, at each run
};

/// What a dot becomes.
struct DotFormats {
  const format::ScaledFormat* weights = nullptr;     ///< must be given
  const format::ScaledFormat* activations = nullptr; ///< null: activations stay as they are
  /// Of what differentiating the program made (docs/recipes.md); none: as activations.
  std::optional<const format::ScaledFormat*> gradients;
  std::string preset;                           ///< stands alone; empty: the next two
  std::optional<format::ScaleRule> rule;        ///< none: each format's own
  std::optional<numerics::NonFinite> nonFinite; ///< none: refused
  /// Activations have static scales, for the range of what was seen; null: those of the values of
  /// each run.
  std::shared_ptr<const StaticScales> scales;
  analysis::RangeChoice range;
  /// Scales of the tensors come from earlier steps and are state of the program; none: from the
  /// values. Stands alone, as a preset does.
  std::optional<DelayedScaling> delayed;
  /// Gradients are rounded by random numbers (N5), which are state of the program.
  bool roundsGradientsAtRandom = false;
  /// The product of a gradient and activations has both sides rotated, so many elements of the
  /// contracted axis at a time, by a random Hadamard matrix (RandomState.h); 0: it has not.
  std::int64_t hadamard = 0;
  /// Powers of two go from columns of activations to those of weights by what was seen of both
  /// (ColumnExponents.h); null: none do. `strength`, from 0 to 1: how far activations are evened
  /// out.
  std::shared_ptr<const StaticScales> moved;
  double strength = 0.5;

  const format::ScaledFormat* ofGradients() const { return gradients.value_or(activations); }
};

/// Which layers a rule takes (DotLayers.h): the first or the last of the forward pass, or those
/// that choose experts (Routers.h).
enum class DotPlace : std::uint8_t { Any, First, Last, Router };

/// As recipes spell them; not Any.
struct DotPlaceRow {
  std::string_view name;
  DotPlace place;
};
inline constexpr DotPlaceRow kDotPlaces[] = {
    {"first", DotPlace::First}, {"last", DotPlace::Last}, {"router", DotPlace::Router}};

/// A rule of a recipe: it takes the dots for which all that it says is true.
struct DotRule {
  std::string where; ///< of the recipe, for messages: "model.json: rules[0]"
  /// Names of dots or of their weights, each whole, or a regular expression (RE2) after `re:`,
  /// found anywhere in one; any of them. Empty: every dot.
  std::vector<std::string> names;
  DotPlace place = DotPlace::Any;
  std::optional<std::int64_t> smallerThan; ///< elements, counted as DotOptions::minSize does
  std::optional<std::string> keep;         ///< why the dot stays as it is; none: it gets `formats`
  DotFormats formats;
};

/// What a recipe says. A dot that no rule takes is left.
struct Recipe {
  std::vector<DotRule> rules;
  std::vector<CacheRule> caches;
};

/// One format for all dots; or, where there is a recipe, of each dot the format of the first rule
/// that takes it, and the formats here are not used.
struct DotOptions : DotFormats, Recipe {
  /// Regular expressions (RE2), each found anywhere in the name of a dot or of its weight. Empty:
  /// every dot; no dot.
  std::string match;
  std::string exclude;
  std::string parameters;   ///< arguments whose name it finds are weights, besides those marked
  std::int64_t minSize = 0; ///< elements of the weight; of the larger side where there is none
  ActivationPairs activationPairs = ActivationPairs::Leave;
  WeightTime weightTime = WeightTime::Ahead;
  /// The number of a dot, in the order of the program, that stays as it is whatever else is said.
  std::optional<std::size_t> kept;
};

/// What happened to one dot.
struct DotRecord {
  std::string name; ///< from its location: "jit(encode)/layer0/attention/query/dot_general"
  std::string function;
  mlir::Location location;
  std::optional<std::int64_t> batch = {}, m = {}, n = {},
                              k = {}; ///< none where an extent is unknown
  bool isQuantized = false;
  std::string reason = {}; ///< why it was left, or where its weight is quantized and why there
  std::string weight = {}; ///< name of the argument, or "constant"; empty if it has none
  /// Where its weights, those of either side, stand in DotReport::weights.
  std::vector<std::size_t> weightRecords = {};
  /// Arguments of the program that it takes, moved about at most, where it has no weight:
  /// DotOptions::parameters makes them weights.
  std::vector<std::string> arguments = {};
  const format::ScaledFormat* lhs = nullptr; ///< null: not scaled
  const format::ScaledFormat* rhs = nullptr;
  std::optional<float> lhsAmax = {}, rhsAmax = {}; ///< of a static scale
  std::array<bool, 2> isWeight = {};               ///< of the sides, left and right

  /// `768x384x384` (M, N, K), after how many of them where there is a batch; `?` for an extent that
  /// is unknown.
  std::string sizes() const;
};

/// A product that is no dot_general, which stays as it is.
struct OtherProduct {
  std::string name;
  std::string function;
  mlir::Location location;
  std::string reason; ///< what it is instead
};

/// A weight of any dot, quantized or not.
struct WeightRecord {
  std::string name;
  std::int64_t elements;
  std::int64_t bitsBefore;
  std::int64_t bitsAfter; ///< elements and scales, where it is quantized ahead; else as before
};

/// Scales that a function takes and returns.
struct DelayedRecord {
  std::string function;
  std::int64_t tensors, history;
};

struct DotReport {
  std::vector<DotRecord> dots;      ///< in the order of the program
  std::vector<OtherProduct> others; ///< in the order of the program
  std::vector<WeightRecord> weights;
  std::vector<DelayedRecord> delayed;
  std::vector<std::string> random; ///< functions that take and return octavo.random
  std::vector<CacheRecord> caches; ///< in the order of the arguments

  std::int64_t quantized() const;
  /// `of NAME: REASON`, of the first dot that is left, or else of the first other product; `the
  /// program has no dots` where there is neither.
  std::string whyLeft() const;
  /// A line for each cache that a rule gives a format and that is left: why.
  std::vector<std::string> leftCaches() const;
  /// Whether the program has got state: arguments and results that it did not have, or others.
  bool hasState() const;
  std::int64_t weightBitsBefore() const;
  std::int64_t weightBitsAfter() const;
};

/// The activations' format that goes with a weights' format, by its row.
const format::ScaledFormat* defaultActivations(const format::ScaledFormat& weights);

/// What is wrong with the options, whatever the program: they contradict one another, or a regular
/// expression is none. Of a rule, after its place in the recipe.
llvm::Error checkOptions(const DotOptions& options);

/// Rewrites the dots of a verified module, and the caches, whose codes dots that are left then
/// multiply. The error, if checkOptions finds one, a name of a rule is that of no dot or no
/// argument, there is no cache, or a constant weight has a NaN or Inf that the policy refuses, says
/// which, and the module is then as it was.
llvm::Expected<DotReport> quantizeDots(mlir::ModuleOp module, const DotOptions& options);

} // namespace octavo::transforms
