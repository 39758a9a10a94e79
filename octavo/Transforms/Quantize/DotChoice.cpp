#include "octavo/Transforms/Quantize/DotChoice.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Base/Shortened.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/Residuals.h"
#include "octavo/Transforms/Walks/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace octavo::transforms {

using format::ScaledFormat;

namespace {

/// Whether a format has the rule. Scales with a significand have only one: nearest.
bool takes(const ScaledFormat* format, format::ScaleRule rule) {
  return format &&
         (format->scale->specials == format::Specials::Scale || rule == format::ScaleRule::Nearest);
}

bool finds(const RE2& pattern, llvm::StringRef name) {
  return RE2::PartialMatch({name.data(), name.size()}, pattern);
}

bool findsIn(const RE2& pattern, const Dot& dot) {
  return finds(pattern, dot.record.name) ||
         (!dot.record.weight.empty() && finds(pattern, dot.record.weight));
}

bool isWide(mlir::Type type) { return type.isF32() || type.isBF16() || type.isF16(); }

/// Product of the extents of `axes`; nullopt if one is unknown.
std::optional<std::int64_t> product(const DotSide& side, llvm::ArrayRef<std::int64_t> axes) {
  std::int64_t result = 1;
  for (std::int64_t axis : axes) {
    if (side.type().isDynamicDim(static_cast<unsigned>(axis)))
      return std::nullopt;
    result *= side.type().getShape()[axis];
  }
  return result;
}

/// Why a dot cannot have scaled operands; empty if it can.
std::string reasonByKind(const Dot& dot) {
  for (const DotSide& side : dot.sides) {
    const mlir::Type element = side.type().getElementType();
    if (const auto* format = elementFormat(element); format && format->isNarrow())
      return "operands of " + mlir::debugString(element) + " are narrow already";
    if (!isWide(element))
      return "operands of " + mlir::debugString(element) +
             "; scaled formats are made of f32, bf16 and f16";
    if (side.type().hasStaticShape() &&
        side.type().getNumElements() > ir::ScaledType::kMostElements)
      return "an operand has more elements than a scaled tensor can have";
  }
  stablehlo::DotGeneralOp op = dot.op();
  const mlir::Type result = mlir::getElementTypeOrSelf(op.getResult().getType());
  if (!isWide(result))
    return "a result of " + mlir::debugString(result) + "; scaled dots give f32, bf16 and f16";
  if (op.getAlgorithmAttr())
    return "it names its own algorithm";
  const std::size_t axes = dot.sides[0].contracting.size();
  if (axes == 0)
    return "it contracts no axis, along which blocks would lie";
  if (axes > 1 &&
      llvm::any_of(dot.sides, [](const DotSide& side) { return !side.type().hasStaticShape(); }))
    return "it contracts " + std::to_string(axes) + " axes, and its extents are not all known";
  if (dot.record.k == 0)
    return "the contracted axis has no elements";
  if (dot.record.batch == 0 || dot.record.m == 0 || dot.record.n == 0)
    return "its result has no elements";
  return {};
}

/// Fails unless the preset exists for both formats and is the only setting of the quantization.
llvm::Error checkPreset(const DotFormats& options) {
  if (options.preset.empty())
    return llvm::Error::success();
  if (options.rule || options.nonFinite)
    return llvm::createStringError("the preset \"" + options.preset + "\" decides the " +
                                   (options.rule ? "scale rule" : "policy for NaN and infinities") +
                                   "; give one of the two");
  for (const ScaledFormat* format : {options.weights, options.activations, options.ofGradients()})
    if (format && !numerics::findPreset(options.preset, *format)) {
      std::string known;
      for (std::string_view name : numerics::presetNames(*format))
        known += (known.empty() ? "" : ", ") + std::string(name);
      return llvm::createStringError("unknown preset \"" + options.preset + "\" for " +
                                     std::string(format->name) +
                                     "; available: " + (known.empty() ? "none" : known));
    }
  return llvm::Error::success();
}

/// Fails if settings of stochastic rounding or rotation of gradients contradict other settings.
llvm::Error checkRandom(const DotFormats& formats) {
  if (formats.roundsGradientsAtRandom && !formats.preset.empty())
    return llvm::createStringError("the preset \"" + formats.preset +
                                   "\" decides the rounding; gradients are rounded stochastically "
                                   "without one");
  if (formats.hadamard != 0 && formats.scales)
    return llvm::createStringError("a Hadamard transform changes the values whose ranges a "
                                   "calibration has; give one of the two");
  return llvm::Error::success();
}

/// Fails unless delayed scales are for formats with one scale a tensor, without other settings of
/// the quantization.
llvm::Error checkDelayed(const DotFormats& formats) {
  if (!formats.delayed)
    return llvm::Error::success();
  if (formats.rule || formats.nonFinite || !formats.preset.empty() || formats.scales ||
      formats.moved)
    return llvm::createStringError(
        "delayed scaling decides the scales, values beyond the largest saturate, and NaN and "
        "infinities stay; give no scale rule, policy, preset or calibration beside it");
  for (const ScaledFormat* format : {formats.weights, formats.activations, formats.ofGradients()})
    if (format && (format->scale->name != "f32" || format->hasOuterScale ||
                   format->across != format::kWholeAxis || format->along != format::kWholeAxis))
      return llvm::createStringError("delayed scales are one f32 a tensor; " +
                                     std::string(format->name) +
                                     " has others; fp8_tensor and fp8_e5m2_tensor have it");
  return llvm::Error::success();
}

/// Fails unless the formats are given and have the scale settings.
llvm::Error checkFormats(const DotFormats& formats) {
  if (!formats.weights)
    return llvm::createStringError("no scaled format of weights is given");
  if (formats.rule && !takes(formats.weights, *formats.rule) &&
      !takes(formats.activations, *formats.rule) && !takes(formats.ofGradients(), *formats.rule))
    return llvm::createStringError("the rule " + std::string(format::scaleRuleName(*formats.rule)) +
                                   " is for E8M0 scales; " + std::string(formats.weights->name) +
                                   " has scales of " + std::string(formats.weights->scale->name) +
                                   ", whose one rule is nearest");
  if (llvm::Error error = checkStaticScales(formats))
    return error;
  if (llvm::Error error = checkRandom(formats))
    return error;
  if (llvm::Error error = checkDelayed(formats))
    return error;
  if (llvm::Error error = checkColumnExponents(formats))
    return error;
  return checkPreset(formats);
}

/// Most bytes of a pattern that a message quotes.
constexpr std::size_t kLongestPattern = 200;

std::string quoted(const std::string& pattern) {
  return "\"" + base::shortened(pattern, kLongestPattern) + "\"";
}

llvm::Expected<std::shared_ptr<const RE2>> compiled(const std::string& pattern,
                                                    llvm::StringRef option) {
  auto expression = std::make_shared<RE2>(pattern, RE2::Quiet);
  if (!expression->ok())
    return llvm::createStringError(
        quoted(pattern) + ", given for " + option.str() +
        ", is not a regular expression: " + base::shortened(expression->error(), kLongestPattern));
  return expression;
}

bool isNamed(const std::string& name, const RE2* pattern, const Dot& dot) {
  return pattern
             ? findsIn(*pattern, dot)
             : name == dot.record.name || (!dot.record.weight.empty() && name == dot.record.weight);
}

bool hasOpenExtents(const Dot& dot) {
  return llvm::any_of(dot.sides, [](const DotSide& side) { return !side.type().hasStaticShape(); });
}

/// Number of elements of the dot's weight; of the larger side if it has none.
std::int64_t sizeOf(const Dot& dot) {
  std::int64_t size = 0;
  for (const DotSide& side : dot.sides)
    if (side.isWeight() || !dot.weight())
      size =
          std::max(size, side.type().hasStaticShape() ? side.type().getNumElements()
                                                      : std::numeric_limits<std::int64_t>::max());
  return size;
}

} // namespace

llvm::SmallVector<std::int64_t> DotSide::freeAxes() const {
  llvm::SmallVector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < type().getRank(); ++axis)
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
      axes.push_back(axis);
  return axes;
}

std::optional<std::int64_t> DotSide::columns() const { return product(*this, contracting); }

llvm::Expected<DotChoice> DotChoice::make(const DotOptions& options) {
  DotChoice choice(options);
  if (options.minSize < 0)
    return llvm::createStringError("a least number of elements of " +
                                   std::to_string(options.minSize) + "; give one from 0 on");
  for (const auto& [pattern, expression, option] :
       {std::tuple(&options.match, &choice.match, "match"),
        std::tuple(&options.exclude, &choice.exclude, "exclude"),
        std::tuple(&options.parameters, &choice.parameters, "parameters")}) {
    if (pattern->empty())
      continue;
    auto made = compiled(*pattern, option);
    if (!made)
      return made.takeError();
    *expression = std::move(*made);
  }
  if (llvm::Error error = checkCaches(options.caches))
    return std::move(error);
  if (options.rules.empty()) {
    if (options.weights != nullptr || options.caches.empty())
      if (llvm::Error error = checkFormats(options))
        return std::move(error);
    return choice;
  }
  const auto of = [](const DotRule& rule, llvm::Error error) {
    return llvm::createStringError(rule.where + ": " + llvm::toString(std::move(error)));
  };
  const DotRule* firstDelayed = nullptr;
  for (DotRule& rule : choice.chosen.rules) // delayed scaling has a policy of its own
    if (!rule.keep && !rule.formats.delayed && rule.formats.preset.empty() &&
        !rule.formats.nonFinite)
      rule.formats.nonFinite = options.nonFinite;
  for (const DotRule& rule : options.rules) {
    if (!rule.keep)
      if (llvm::Error error = checkFormats(rule.formats))
        return of(rule, std::move(error));
    if (const auto& delayed = rule.formats.delayed) {
      firstDelayed = firstDelayed ? firstDelayed : &rule;
      if (const std::int64_t length = firstDelayed->formats.delayed->history;
          length != delayed->history)
        return of(rule, llvm::createStringError("a history of " + std::to_string(delayed->history) +
                                                " steps, where " + firstDelayed->where +
                                                " has one of " + std::to_string(length) +
                                                "; a program keeps histories of one length"));
    }
    auto& expressions = choice.patterns.emplace_back();
    for (llvm::StringRef name : rule.names) {
      expressions.emplace_back();
      if (!name.consume_front("re:"))
        continue;
      auto made = compiled(name.str(), "dots");
      if (!made)
        return of(rule, made.takeError());
      expressions.back() = std::move(*made);
    }
    choice.order(choice.patterns.size() - 1);
  }
  return choice;
}

/// Enters a rule in `rulesByName` and `otherRules`.
void DotChoice::order(std::size_t index) {
  const auto& names = chosen.rules[index].names;
  bool hasOthers = names.empty();
  for (const auto& [name, expression] : llvm::zip_equal(names, patterns[index])) {
    hasOthers = hasOthers || expression != nullptr || name.empty();
    if (!expression && !name.empty())
      rulesByName[name].push_back(index);
  }
  if (hasOthers)
    otherRules.push_back(index);
}

llvm::Error DotChoice::look(llvm::ArrayRef<Dot> dots) {
  std::vector<std::string> known;
  llvm::StringSet<> names;
  for (const Dot& dot : dots) {
    known.push_back(dot.record.name);
    if (!dot.record.weight.empty())
      known.push_back(dot.record.weight);
    names.insert(dot.record.name);
    names.insert(dot.record.weight);
    if (!dot.weight())
      continue;
    for (const DotSide& side : dot.sides)
      if (!side.isWeight() && !side.isGradient)
        besideWeights.insert_range(computedAs(side.value(), calls()));
  }
  std::set<DotPlace> places;
  for (const DotRule& rule : chosen.rules)
    if (rule.place != DotPlace::Any)
      places.insert(rule.place);
  if (!places.empty())
    layers.emplace(
        dots, places, [&](mlir::Value value) { return trace(value).origin != Origin::Computed; },
        calls(), facts->derivatives);
  for (const auto& [rule, expressions] : llvm::zip_equal(chosen.rules, patterns))
    for (const auto& [name, expression] : llvm::zip_equal(rule.names, expressions)) {
      if (expression ? llvm::any_of(dots, [&](const Dot& dot) { return findsIn(*expression, dot); })
                     : names.contains(name))
        continue;
      std::string message = rule.where + ".dots: \"" + name + "\" is " +
                            (expression ? "found in the name" : "the name") +
                            " of no dot and of no dot's weight";
      if (const std::vector<std::string> near = base::nearNames(name, known);
          !expression && !near.empty())
        message += "; near it: " + llvm::join(near, ", ");
      return llvm::createStringError(message);
    }
  return llvm::Error::success();
}

bool DotChoice::isParameter(mlir::BlockArgument argument, llvm::StringRef name) const {
  auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttr(argument.getArgNumber(), ir::OctavoDialect::kParameter) ||
         (parameters && finds(*parameters, name));
}

void DotChoice::take(mlir::ModuleOp program) {
  facts =
      std::make_unique<Facts>(program, [this](mlir::BlockArgument argument, llvm::StringRef name) {
        return isParameter(argument, name);
      });
}

/// Orders the contracted axes, which is free to choose, as they lie in the weight, or else in the
/// right side. They then merge without a transpose, and no block spans several indices of the outer
/// axes.
static void orderContracted(Dot& dot) {
  const DotSide* weight = dot.weight();
  const DotSide& by = weight != nullptr ? *weight : dot.sides[1];
  llvm::SmallVector<std::size_t> order(by.contracting.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](std::size_t a, std::size_t b) { return by.contracting[a] < by.contracting[b]; });
  for (DotSide& side : dot.sides)
    side.contracting =
        llvm::map_to_vector(order, [&, axes = side.contracting](std::size_t i) { return axes[i]; });
}

Dot DotChoice::describe(stablehlo::DotGeneralOp op) const {
  const auto side = [&](unsigned index, llvm::ArrayRef<std::int64_t> batching,
                        llvm::ArrayRef<std::int64_t> contracting) {
    const bool isGradient = facts->derivatives.isDerivative(op->getOperand(index));
    return DotSide{op,
                   index,
                   llvm::to_vector(batching),
                   llvm::to_vector(contracting),
                   trace(op->getOperand(index)),
                   isGradient};
  };
  const stablehlo::DotDimensionNumbersAttr dimensions = op.getDotDimensionNumbers();
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  Dot dot{
      {side(0, dimensions.getLhsBatchingDimensions(), dimensions.getLhsContractingDimensions()),
       side(1, dimensions.getRhsBatchingDimensions(), dimensions.getRhsContractingDimensions())},
      {sourceName(op.getLoc()), function ? function.getName().str() : "", op.getLoc()}};
  orderContracted(dot);
  const auto& [lhs, rhs] = dot.sides;
  dot.record.isWeight = {lhs.isWeight(), rhs.isWeight()};
  dot.record.batch = product(lhs, lhs.batching);
  dot.record.m = product(lhs, lhs.freeAxes());
  dot.record.n = product(rhs, rhs.freeAxes());
  dot.record.k = product(lhs, lhs.contracting);
  if (const DotSide* weight = dot.weight())
    dot.record.weight = weight->trace.name;
  else
    for (const DotSide& side : dot.sides)
      for (mlir::Value source : side.trace.sources)
        if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(source))
          if (auto owner = llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
              owner && owner.isPublic())
            dot.record.arguments.push_back(ir::argumentName(owner, argument.getArgNumber()));
  return dot;
}

std::string DotChoice::reasonByName(const Dot& dot) const {
  if (match && !findsIn(*match, dot))
    return "its name does not match " + quoted(chosen.match);
  if (exclude && findsIn(*exclude, dot))
    return "its name is excluded by " + quoted(chosen.exclude);
  return {};
}

bool DotChoice::takes(const DotRule& rule, std::size_t index, const Dot& dot) const {
  if (rule.place != DotPlace::Any && !layers->has(rule.place, dot.op()))
    return false;
  if (rule.smallerThan && sizeOf(dot) >= *rule.smallerThan)
    return false;
  return rule.names.empty() ||
         llvm::any_of(llvm::zip_equal(rule.names, patterns[index]), [&](const auto& each) {
           const auto& [name, expression] = each;
           return isNamed(name, expression.get(), dot);
         });
}

/// Whether the dot multiplies a gradient with activations that a weight was multiplied with.
bool DotChoice::isWeightGradient(const Dot& dot) const {
  return dot.hasGradient() && llvm::any_of(dot.sides, [&](const DotSide& side) {
           return !side.isGradient &&
                  llvm::any_of(computedAs(side.value(), calls()),
                               [&](mlir::Value each) { return besideWeights.contains(each); });
         });
}

/// The values that decide whether `value`, which is not itself a weight, is computed from weights.
llvm::SmallVector<mlir::Value> DotChoice::madeOf(mlir::Value value) const {
  const WeightTrace& found = trace(value);
  mlir::Operation* op = found.root.getDefiningOp();
  if (found.origin != Origin::Computed || op == nullptr)
    return {};
  if (mlir::func::FuncOp function = calls().called(op)) {
    if (!llvm::hasSingleElement(function.getBody()))
      return {};
    return {handedAt(function.getBody(), placeOfResult(found.root))};
  }
  if (op->getNumRegions() != 0 || movedFrom(found.root))
    return {};
  mlir::OperandRange operands = op->getOperands();
  if (llvm::isa<stablehlo::SelectOp>(op)) // a weight with some elements replaced
    operands = operands.drop_front();
  return llvm::SmallVector<mlir::Value>(operands);
}

/// Finds the detour of a value from those of the values that it is computed from.
void DotChoice::findDetour(mlir::Value value) const {
  const WeightTrace& found = trace(value);
  Detour detour;
  mlir::Operation* op = found.root.getDefiningOp();
  if (found.origin != Origin::Computed) {
    detour.isOfWeights = true;
    detour.weight = found.origin == Origin::Parameter ? found.name : "";
  } else if (op != nullptr) {
    const llvm::SmallVector<mlir::Value> operands = madeOf(value);
    const bool isCall = static_cast<bool>(calls().called(op));
    detour.isOfWeights =
        (!operands.empty() || (!isCall && op->getNumRegions() == 0 && !movedFrom(found.root))) &&
        llvm::all_of(operands, [&](mlir::Value each) {
          return facts->detours.find(each)->second.isOfWeights;
        });
    detour.obstacle = isCall ? nullptr : op;
    for (mlir::Value each : operands) {
      const Detour& own = facts->detours.find(each)->second;
      if (detour.weight.empty())
        detour.weight = own.weight;
      if (isCall)
        detour.obstacle = own.obstacle;
    }
  }
  facts->detours[value] = std::move(detour);
}

/// Iterative, with a list of pending values. A recursive function reaches a value again, which then
/// decides nothing.
const DotChoice::Detour& DotChoice::detourTo(mlir::Value value) const {
  llvm::SmallVector<mlir::Value> pending = {value};
  llvm::DenseSet<mlir::Value> asked, open;
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    if (asked.insert(next).second && !facts->detours.contains(next)) {
      facts->detours[next] = {.isOfWeights = true};
      const llvm::SmallVector<mlir::Value> operands = madeOf(next);
      for (mlir::Value operand : llvm::reverse(operands))
        if (!facts->detours.contains(operand))
          pending.push_back(operand);
      open.insert(next);
      continue;
    }
    pending.pop_back();
    if (open.erase(next))
      findDetour(next);
  }
  return facts->detours.find(value)->second;
}

/// Which operation between a weight and the dot makes the operand a computed value; empty if none
/// does.
std::string DotChoice::reasonByDetour(const Dot& dot) const {
  for (const DotSide& side : dot.sides) {
    const Detour& found = detourTo(side.value());
    if (found.isOfWeights && !found.weight.empty() && found.obstacle != nullptr)
      return "its weight \"" + found.weight + "\" comes to it through " +
             found.obstacle->getName().getStringRef().str() +
             ", which computes an activation: do that before the weight is stored or bound, or "
             "take dots of two activations, too";
  }
  return {};
}

/// Which weight one call passes for an argument if another call passes an activation; empty if none
/// does.
const std::string& DotChoice::reasonByCalls(mlir::BlockArgument argument) const {
  const auto [found, isNew] = facts->reasonsByCalls.try_emplace(argument);
  if (!isNew)
    return found->second;
  std::string reason;
  auto function = llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  if (function && function.isPrivate())
    for (mlir::func::CallOp call : calls().callsOf(function))
      if (const WeightTrace& given = trace(call.getOperand(argument.getArgNumber()));
          given.origin == Origin::Parameter) {
        reason = "the function around it is called with the weight \"" + given.name +
                 "\" and with activations: give the calls with weights a function of their own, "
                 "or take dots of two activations, too";
        break;
      }
  return found->second = std::move(reason);
}

std::string DotChoice::reasonByCalls(const Dot& dot) const {
  for (const DotSide& side : dot.sides)
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(trace(side.value()).root))
      if (const std::string& reason = reasonByCalls(argument); !reason.empty())
        return reason;
  return {};
}

/// The rules that may apply to a dot, in order: those with its exact name or its weight's, and
/// those without exact names.
std::vector<std::size_t> DotChoice::rulesFor(const Dot& dot) const {
  std::vector<std::size_t> rules = otherRules;
  for (const std::string& name : {dot.record.name, dot.record.weight})
    if (const auto found = rulesByName.find(name); found != rulesByName.end())
      rules.insert(rules.end(), found->second.begin(), found->second.end());
  llvm::sort(rules);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

std::string DotChoice::chooseFormats(Dot& dot) const {
  const DotFormats* formats = &chosen;
  if (!chosen.rules.empty() || !chosen.caches.empty()) {
    formats = nullptr;
    for (const std::size_t index : rulesFor(dot)) {
      const DotRule& rule = chosen.rules[index];
      if (!takes(rule, index, dot))
        continue;
      if (rule.keep)
        return rule.where + " keeps it: " + *rule.keep;
      formats = &rule.formats;
      break;
    }
    if (!formats)
      return "no rule of the recipe takes it";
  }
  const bool hasWeight = dot.weight() != nullptr;
  if (!hasWeight && chosen.activationPairs == ActivationPairs::Leave && !isWeightGradient(dot)) {
    if (std::string reason = reasonByDetour(dot); !reason.empty())
      return reason;
    if (std::string reason = reasonByCalls(dot); !reason.empty())
      return reason;
    if (dot.hasGradient())
      return "it is no gradient of a weight, and both operands are activations";
    return "both operands are activations" +
           (dot.record.arguments.empty()
                ? ""
                : " (a weight among the arguments " + llvm::join(dot.record.arguments, ", ") +
                      " is one that --weights gives or --parameters names, in Python weights= or "
                      "parameters=)");
  }
  for (DotSide& side : dot.sides) {
    side.format = side.isWeight()   ? formats->weights
                  : side.isGradient ? formats->ofGradients()
                                    : formats->activations;
    side.settings = formats;
  }
  const auto wide = llvm::find_if(dot.sides, [](const DotSide& side) { return !side.format; });
  if (!hasWeight && wide != dot.sides.end())
    return wide->isGradient ? "both operands are activations, and its gradient stays wide"
                            : "both operands are activations, which stay wide";
  if (formats->delayed)
    if (std::string reason = reasonByDelay(dot); !reason.empty())
      return reason;
  if (dot.hadamard() != 0 || llvm::any_of(dot.sides, std::mem_fn(&DotSide::isRoundedAtRandom)))
    if (std::string reason = reasonByRandomState(dot); !reason.empty())
      return reason;
  const std::int64_t size = sizeOf(dot);
  if (size < chosen.minSize)
    return std::string(hasWeight ? "its weight has " : "its larger side has ") +
           std::to_string(size) + " elements, fewer than " + std::to_string(chosen.minSize);
  return {};
}

/// Why a dot's scales cannot come from earlier steps; empty if they can.
std::string DotChoice::reasonByDelay(const Dot& dot) const {
  std::string reason = facts->state.reasonWithout(dot.op());
  if (reason.empty())
    reason = facts->rounds.reasonWithout(dot.op());
  if (!reason.empty())
    return "delayed scales are state of the program, which does not reach the dot: " + reason;
  return hasOpenExtents(dot) ? "delayed scales need tensors of known extents" : "";
}

/// Why no random numbers can be drawn for a dot; empty if they can.
std::string DotChoice::reasonByRandomState(const Dot& dot) const {
  if (std::string reason = facts->state.reasonWithout(dot.op()); !reason.empty())
    return "random numbers are state of the program, which does not reach the dot: " + reason;
  return hasOpenExtents(dot) ? "random numbers need tensors of known extents" : "";
}

std::string DotChoice::reasonToLeave(Dot& dot) const {
  if (std::string reason = reasonByKind(dot); !reason.empty())
    return reason;
  if (std::string reason = reasonByName(dot); !reason.empty())
    return reason;
  if (std::string reason = chooseFormats(dot); !reason.empty())
    return reason;
  return reasonByEdges(dot);
}

std::string DotChoice::reasonByEdges(const Dot& dot) {
  for (const DotSide& side : dot.sides) {
    if (!side.format || side.settings->preset.empty())
      continue;
    const std::string& preset = side.settings->preset;
    const MergedAxes merged = side.merged();
    const auto type = mlir::RankedTensorType::get(merged.shape, side.type().getElementType());
    llvm::SmallVector<std::int64_t> shape(merged.shape);
    // 1 is not a multiple of any block
    llvm::replace(shape, mlir::ShapedType::kDynamic, std::int64_t{1});
    const auto refused =
        numerics::refusedAxis(*numerics::findPreset(preset, *side.format), *side.format, shape,
                              static_cast<int>(merged.contracting));
    if (refused)
      return preset + " refuses axis " + std::to_string(refused->axis) + " of " +
             mlir::debugString(type) + ", which is not " +
             (type.isDynamicDim(static_cast<unsigned>(refused->axis)) ? "known to be " : "") +
             "a multiple of " + std::to_string(refused->block);
  }
  return {};
}

ir::QuantizationAttr DotChoice::quantization(const DotSide& side, ir::ScaledType type) {
  const ScaledFormat& format = *side.format;
  const DotFormats& settings = *side.settings;
  mlir::MLIRContext* context = type.getContext();
  numerics::QuantizeOptions options;
  if (!settings.preset.empty()) {
    options = numerics::findPreset(settings.preset, format)->options;
    options.amax = side.amax;
    // Two formats can have one type: with a single row, scales of rows and of the tensor.
    const auto byName = ir::QuantizationAttr::get(context, llvm::StringRef(settings.preset));
    const mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic&) {});
    const auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(context)); };
    if (succeeded(byName.verifyFor(emitError, type)) &&
        byName.getOptions(type, format::element("f32")) == options)
      return byName;
    return ir::QuantizationAttr::get(context, options);
  }
  options.rule =
      settings.rule && transforms::takes(&format, *settings.rule) ? *settings.rule : format.rule;
  options.nonFinite = settings.nonFinite.value_or(numerics::NonFinite::Error);
  options.amax = side.amax;
  if (side.isRoundedAtRandom()) {
    options.rounding = numerics::Rounding::Stochastic;
    // Scales are rounded up, since the mean of a saturating element is not its value, unless the
    // recipe names a rule that the format has. f32 scales count as not rounded.
    numerics::QuantizeOptions up = options;
    up.rule = format::ScaleRule::RoundUp;
    const bool roundsUp =
        transforms::takes(&format, up.rule) || numerics::roundsScaleUp(*format.scale, up);
    if (roundsUp && !(settings.rule && transforms::takes(&format, *settings.rule)))
      options = up;
  }
  return ir::QuantizationAttr::get(context, options);
}

} // namespace octavo::transforms
