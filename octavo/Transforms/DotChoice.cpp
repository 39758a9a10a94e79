#include "octavo/Transforms/DotChoice.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Transforms/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <re2/re2.h>

#include <algorithm>
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

std::string text(mlir::Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

bool isWide(mlir::Type type) { return type.isF32() || type.isBF16() || type.isF16(); }

std::int64_t product(const DotSide& side, llvm::ArrayRef<std::int64_t> axes) {
  std::int64_t result = 1;
  for (std::int64_t axis : axes)
    result *= side.type().getShape()[axis];
  return result;
}

/// Why a dot cannot have scaled operands; empty if it can.
std::string reasonByKind(const Dot& dot) {
  for (const DotSide& side : dot.sides) {
    const mlir::Type element = side.type().getElementType();
    if (const auto* format = elementFormat(element); format && format->isNarrow())
      return "operands of " + text(element) + " are narrow already";
    if (!isWide(element))
      return "operands of " + text(element) + "; scaled formats are made of f32, bf16 and f16";
    if (side.type().getNumElements() > ir::ScaledType::kMostElements)
      return "an operand has more elements than a scaled tensor can have";
  }
  stablehlo::DotGeneralOp op = dot.op();
  const mlir::Type result = mlir::getElementTypeOrSelf(op.getResult().getType());
  if (!isWide(result))
    return "a result of " + text(result) + "; scaled dots give f32, bf16 and f16";
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
      size = std::max(size, side.type().getNumElements());
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
  return chooseFormats(dot);
}

numerics::QuantizeOptions DotChoice::quantization(const ScaledFormat& format) const {
  numerics::QuantizeOptions result;
  result.rule = chosen.rule && takes(&format, *chosen.rule) ? *chosen.rule : format.rule;
  result.nonFinite = chosen.nonFinite;
  return result;
}

} // namespace octavo::transforms
