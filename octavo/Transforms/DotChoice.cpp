#include "octavo/Transforms/DotChoice.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Transforms/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace octavo::transforms {

using format::ScaledFormat;

namespace {

/// Whether a format has that rule: scales with a significand have but one.
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

/// Nothing where one of the extents is unknown.
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
  if (const std::size_t axes = dot.sides[0].contracting.size(); axes != 1)
    return "it contracts " + std::to_string(axes) + " axes; exactly one can be blocked";
  if (dot.record.k == 0)
    return "the contracted axis has no elements";
  if (dot.record.batch == 0 || dot.record.m == 0 || dot.record.n == 0)
    return "its result has no elements";
  return {};
}

/// That the preset is one of both formats, and all that is said of the quantization.
llvm::Error checkPreset(const DotOptions& options) {
  if (options.preset.empty())
    return llvm::Error::success();
  if (options.rule || options.nonFinite)
    return llvm::createStringError("the preset \"" + options.preset + "\" decides the " +
                                   (options.rule ? "scale rule" : "policy for NaN and infinities") +
                                   "; give one of the two");
  for (const ScaledFormat* format : {options.weights, options.activations})
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

} // namespace

llvm::SmallVector<std::int64_t> DotSide::freeAxes() const {
  llvm::SmallVector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < type().getRank(); ++axis)
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
      axes.push_back(axis);
  return axes;
}

llvm::Expected<DotChoice> DotChoice::make(const DotOptions& options) {
  if (!options.weights)
    return llvm::createStringError("no scaled format of weights is given");
  DotChoice choice(options);
  for (const auto& [pattern, compiled, option] :
       {std::tuple(&options.match, &choice.match, "match"),
        std::tuple(&options.exclude, &choice.exclude, "exclude"),
        std::tuple(&options.parameters, &choice.parameters, "parameters")}) {
    if (pattern->empty())
      continue;
    const auto expression = std::make_shared<RE2>(*pattern, RE2::Quiet);
    if (!expression->ok())
      return llvm::createStringError("\"" + *pattern + "\", given for " + option +
                                     ", is not a regular expression: " + expression->error());
    *compiled = expression;
  }
  if (options.rule && !takes(options.weights, *options.rule) &&
      !takes(options.activations, *options.rule))
    return llvm::createStringError("the rule " + std::string(format::scaleRuleName(*options.rule)) +
                                   " is for E8M0 scales; " + std::string(options.weights->name) +
                                   " has scales of " + std::string(options.weights->scale->name) +
                                   ", whose one rule is nearest");
  if (llvm::Error error = checkPreset(options))
    return std::move(error);
  return choice;
}

bool DotChoice::isParameter(mlir::BlockArgument argument, llvm::StringRef name) const {
  auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttr(argument.getArgNumber(), ir::OctavoDialect::kParameter) ||
         (parameters && finds(*parameters, name));
}

Dot DotChoice::describe(stablehlo::DotGeneralOp op) const {
  const auto side = [&](unsigned index, llvm::ArrayRef<std::int64_t> batching,
                        llvm::ArrayRef<std::int64_t> contracting) {
    return DotSide{
        op, index, llvm::to_vector(batching), llvm::to_vector(contracting),
        traceWeight(op->getOperand(index), [&](mlir::BlockArgument argument, llvm::StringRef name) {
          return isParameter(argument, name);
        })};
  };
  const stablehlo::DotDimensionNumbersAttr dimensions = op.getDotDimensionNumbers();
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  Dot dot{
      {side(0, dimensions.getLhsBatchingDimensions(), dimensions.getLhsContractingDimensions()),
       side(1, dimensions.getRhsBatchingDimensions(), dimensions.getRhsContractingDimensions())},
      {sourceName(op.getLoc()), function ? function.getName().str() : "", op.getLoc()}};
  const auto& [lhs, rhs] = dot.sides;
  dot.record.batch = product(lhs, lhs.batching);
  dot.record.m = product(lhs, lhs.freeAxes());
  dot.record.n = product(rhs, rhs.freeAxes());
  dot.record.k = product(lhs, lhs.contracting);
  if (const DotSide* weight = dot.weight())
    dot.record.weight = weight->trace.name;
  else
    for (const DotSide& side : dot.sides)
      if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(side.trace.source))
        if (auto owner = llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
            owner && owner.isPublic())
          dot.record.arguments.push_back(argumentName(owner, argument.getArgNumber()));
  return dot;
}

std::string DotChoice::reasonByName(const Dot& dot) const {
  if (match && !findsIn(*match, dot))
    return "its name does not match \"" + chosen.match + "\"";
  if (exclude && findsIn(*exclude, dot))
    return "its name is excluded by \"" + chosen.exclude + "\"";
  return {};
}

std::string DotChoice::chooseFormats(Dot& dot) const {
  const bool hasWeight = dot.weight() != nullptr;
  if (!hasWeight && chosen.activationPairs == ActivationPairs::Leave)
    return "both operands are activations";
  if (!hasWeight && !chosen.activations)
    return "both operands are activations, which stay wide";
  std::int64_t size = 0;
  for (DotSide& side : dot.sides) {
    side.format = side.isWeight() ? chosen.weights : chosen.activations;
    if (side.isWeight() || !hasWeight)
      size =
          std::max(size, side.type().hasStaticShape() ? side.type().getNumElements()
                                                      : std::numeric_limits<std::int64_t>::max());
  }
  if (size < chosen.minSize)
    return std::string(hasWeight ? "its weight has " : "its larger side has ") +
           std::to_string(size) + " elements, fewer than " + std::to_string(chosen.minSize);
  return {};
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

std::string DotChoice::reasonByEdges(const Dot& dot) const {
  if (chosen.preset.empty())
    return {};
  for (const DotSide& side : dot.sides) {
    if (!side.format)
      continue;
    llvm::SmallVector<std::int64_t> shape(side.type().getShape());
    llvm::replace(shape, mlir::ShapedType::kDynamic, std::int64_t{1}); // a multiple of no block
    const auto refused =
        numerics::refusedAxis(*numerics::findPreset(chosen.preset, *side.format), *side.format,
                              shape, static_cast<int>(side.contracting.front()));
    if (refused)
      return chosen.preset + " refuses axis " + std::to_string(refused->axis) + " of " +
             mlir::debugString(side.type()) + ", which is not " +
             (side.type().isDynamicDim(static_cast<unsigned>(refused->axis)) ? "known to be "
                                                                             : "") +
             "a multiple of " + std::to_string(refused->block);
  }
  return {};
}

ir::QuantizationAttr DotChoice::quantization(const ScaledFormat& format,
                                             ir::ScaledType type) const {
  mlir::MLIRContext* context = type.getContext();
  numerics::QuantizeOptions options;
  if (!chosen.preset.empty()) {
    options = numerics::findPreset(chosen.preset, format)->options;
    // Two formats can be one type: scales of rows and of the tensor where there is one row.
    const auto byName = ir::QuantizationAttr::get(context, llvm::StringRef(chosen.preset));
    const mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic&) {});
    const auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(context)); };
    if (succeeded(byName.verifyFor(emitError, type)) &&
        byName.getOptions(type, format::element("f32")) == options)
      return byName;
    return ir::QuantizationAttr::get(context, options);
  }
  options.rule = chosen.rule && takes(&format, *chosen.rule) ? *chosen.rule : format.rule;
  options.nonFinite = chosen.nonFinite.value_or(numerics::NonFinite::Error);
  return ir::QuantizationAttr::get(context, options);
}

} // namespace octavo::transforms
