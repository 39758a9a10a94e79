#include "octavo/Transforms/QuantizeDots.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/ArgumentExponents.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/CarriedUnchanged.h"
#include "octavo/Transforms/ConvolutionDots.h"
#include "octavo/Transforms/DotChoice.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/MovedWeights.h"
#include "octavo/Transforms/OpenedCalls.h"
#include "octavo/Transforms/RandomState.h"
#include "octavo/Transforms/RecoverScaled.h"
#include "octavo/Transforms/SourceNames.h"
#include "octavo/Transforms/TensorFacts.h"
#include "octavo/Transforms/WeightPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <limits>
#include <map>
#include <tuple>

namespace octavo::transforms {

namespace {

/// Changes the module as decided: first the weights that are quantized ahead, then each dot.
class Rewriting {
public:
  explicit Rewriting(const WeightPlan& plan) : plan(plan) {}

  void quantizeRoots();
  /// A dot that is one of patches, written beside a convolution that is no more.
  void take(const ConvolutionDot& convolution);
  void replace(const Dot& dot);
  void eraseUnused();
  /// Ends the functions that carry state, and says which they are.
  void finishState(DotReport& report);

private:
  struct ScaledSide {
    mlir::Value value;
    llvm::SmallVector<std::int64_t> batching;
    llvm::SmallVector<std::int64_t> contracting;
  };
  mlir::Value taken(const AheadSide& ahead, mlir::Operation* user, const MergedAxes* merged);
  /// `signs` of a Hadamard transform, of the contracted axis; null: there is none.
  ScaledSide scaled(const DotSide& side, mlir::Value signs);
  mlir::Value patches(const DotSide& side, const MergedAxes& merged);
  mlir::Value merge(const DotSide& side, const MergedAxes& merged);
  mlir::Value move(const DotSide& side);
  mlir::Value multiplied(mlir::Value value, std::int64_t axis, const ColumnExponents* exponents,
                         bool isWeight, mlir::Location location);
  void giveScaled(mlir::BlockArgument argument, const AheadRoot& ahead);
  mlir::Value quantize(const DotSide& side, mlir::Value value, const MergedAxes& merged);
  mlir::Value quantize(mlir::Value value, ir::ScaledType type, ir::QuantizationAttr quantization,
                       mlir::Location location);
  mlir::Value quantizeDelayed(const DotSide& side, mlir::Value value, const MergedAxes& merged);

  const WeightPlan& plan;
  llvm::DenseMap<mlir::Operation*, const ConvolutionDot*> convolutions; ///< by their dots
  llvm::DenseMap<mlir::Value, mlir::Value> roots;
  MovedWeights weights;
  /// One merge, and one quantization, of a value serves all dots that need the same one.
  std::map<std::pair<const void*, std::vector<std::int64_t>>, mlir::Value> merges;
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Type, mlir::Attribute>, mlir::Value> inProgram;
  /// Tensors whose columns were moved along an axis, by the exponents.
  llvm::DenseMap<std::tuple<mlir::Value, std::int64_t, const ColumnExponents*>, mlir::Value> moved;
  llvm::SetVector<mlir::Operation*> maybeUnused;
  DelayedScales delayed;
  RandomState random;
  /// Of a value in a format, under a margin, rounded at random or not.
  std::map<std::tuple<const void*, const format::ElementFormat*, int, bool>, DelayedScales::Codes>
      codes;
};

void Rewriting::quantizeRoots() {
  for (const auto& [root, ahead] : plan.roots()) {
    if (ahead.constant) {
      mlir::OpBuilder builder(root.getContext());
      builder.setInsertionPointAfterValue(root);
      roots[root] = materialize(builder, root.getLoc(), *ahead.constant);
      maybeUnused.insert(root.getDefiningOp());
      continue;
    }
    auto argument = llvm::cast<mlir::BlockArgument>(root);
    auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    const unsigned index = argument.getArgNumber();
    llvm::SmallVector<mlir::Type> inputs = llvm::to_vector(function.getArgumentTypes());
    inputs[index] = ahead.type;
    argument.setType(ahead.type);
    function.setType(mlir::FunctionType::get(root.getContext(), inputs, function.getResultTypes()));
    roots[root] = argument;
    if (function.isPrivate())
      continue;
    function.setArgAttr(index, ir::OctavoDialect::kQuantize, ahead.quantization);
    if (ahead.exponents)
      function.setArgAttr(
          index, ir::kExponents,
          ir::exponentsAttribute(root.getContext(), {ahead.axis, *ahead.exponents}));
  }
  for (const auto& [root, ahead] : plan.roots())
    if (privateFunctionOf(root))
      giveScaled(llvm::cast<mlir::BlockArgument>(root), ahead);
}

/// Has the calls of a private function give its argument as it is taken.
void Rewriting::giveScaled(mlir::BlockArgument argument, const AheadRoot& ahead) {
  const unsigned place = argument.getArgNumber();
  for (mlir::func::CallOp call : callsOf(privateFunctionOf(argument))) {
    const mlir::Value given = call.getOperand(place);
    const AheadSide* own = plan.find(call, place);
    call.setOperand(place, own ? taken(*own, call, nullptr)
                               : quantize(multiplied(given, ahead.axis, ahead.exponents.get(),
                                                     /*isWeight=*/true, call.getLoc()),
                                          ahead.type, ahead.quantization, call.getLoc()));
  }
}

/// What a side takes of a root that is quantized ahead; its contracted axes are then `merged`.
mlir::Value Rewriting::taken(const AheadSide& ahead, mlir::Operation* user,
                             const MergedAxes* merged) {
  const mlir::Value scaled = roots.lookup(ahead.root);
  maybeUnused.insert(ahead.movement.begin(), ahead.movement.end());
  if (!ahead.moved)
    return scaled;
  mlir::OpBuilder builder(user);
  return weights.at(builder, user->getLoc(), ahead.root, scaled, ahead.movement, merged,
                    ahead.moved);
}

/// A tensor whose one contracted axis is its columns, with their powers of two moved.
mlir::Value Rewriting::multiplied(mlir::Value given, std::int64_t axis,
                                  const ColumnExponents* exponents, bool isWeight,
                                  mlir::Location location) {
  if (!exponents)
    return given;
  mlir::Value& value = moved[{given, axis, exponents}];
  if (!value) {
    ColumnExponents own = *exponents;
    if (!isWeight)
      for (std::int8_t& exponent : own)
        exponent = static_cast<std::int8_t>(-exponent);
    mlir::OpBuilder builder(given.getContext());
    builder.setInsertionPointAfterValue(given);
    value = timesPowersOfTwo(builder, location, given, axis, own);
  }
  return value;
}

mlir::Value Rewriting::move(const DotSide& side) {
  stablehlo::DotGeneralOp op = side.op;
  return multiplied(side.value(), side.contracting.front(), side.exponents.get(), side.isWeight(),
                    op.getLoc());
}

mlir::Value Rewriting::merge(const DotSide& side, const MergedAxes& merged) {
  if (side.contracting.size() == 1)
    return move(side);
  mlir::Value& value = merges[{side.value().getAsOpaquePointer(),
                               {side.contracting.begin(), side.contracting.end()}}];
  if (!value) {
    mlir::OpBuilder builder(side.value().getContext());
    builder.setInsertionPointAfterValue(side.value());
    stablehlo::DotGeneralOp op = side.op;
    value = applyMerge(builder, op.getLoc(), side.value(), merged);
  }
  return value;
}

void Rewriting::take(const ConvolutionDot& convolution) {
  convolutions[convolution.dot()] = &convolution;
  for (mlir::Operation* each : convolution.operations())
    if (each != convolution.dot())
      maybeUnused.insert(each);
}

/// The patches of a convolution that are made of codes and scales; null where they are quantized as
/// they are.
mlir::Value Rewriting::patches(const DotSide& side, const MergedAxes& merged) {
  stablehlo::DotGeneralOp op = side.op;
  const ConvolutionDot* convolution = convolutions.lookup(op);
  if (!convolution || side.index != 0 || !side.format || side.settings->delayed || side.exponents ||
      side.isRoundedAtRandom())
    return {};
  const auto type = [&](llvm::ArrayRef<std::int64_t> shape) {
    return scaledType(op.getContext(), *side.format, shape,
                      static_cast<std::int64_t>(shape.size()) - 1);
  };
  const ir::ScaledType ofPatches = type(merged.shape);
  return convolution->quantizedLeft(
      merged.shape, {type,
                     [&](mlir::Value value, ir::ScaledType own) {
                       return quantize(value, own, DotChoice::quantization(side, own), op.getLoc());
                     },
                     DotChoice::quantization(side, ofPatches)
                         .getOptions(ofPatches, *elementFormatOf(side.value()))});
}

mlir::Value Rewriting::quantize(const DotSide& side, mlir::Value value, const MergedAxes& merged) {
  const ir::ScaledType type =
      scaledType(value.getContext(), *side.format, merged.shape, merged.contracting);
  const ir::QuantizationAttr quantization = DotChoice::quantization(side, type);
  stablehlo::DotGeneralOp op = side.op;
  if (!side.isRoundedAtRandom())
    return quantize(value, type, quantization, op.getLoc());
  // What is drawn in a round or a branch is drawn there, wherever the value comes from.
  const bool isBeside = value.getParentBlock() == op->getBlock();
  mlir::Value own;
  mlir::Value& quantized = isBeside ? inProgram[{value, type, quantization}] : own;
  if (!quantized) {
    mlir::OpBuilder builder(op);
    if (isBeside)
      builder.setInsertionPointAfterValue(value);
    const mlir::Value bits = random.bits(builder, op.getLoc(), merged.shape);
    quantized = ir::QuantizeOp::create(builder, op.getLoc(), type, value, bits, quantization);
  }
  return quantized;
}

/// Right after the value, so that one serves all who need it.
mlir::Value Rewriting::quantize(mlir::Value value, ir::ScaledType type,
                                ir::QuantizationAttr quantization, mlir::Location location) {
  mlir::Value& quantized = inProgram[{value, type, quantization}];
  if (!quantized) {
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    quantized = ir::QuantizeOp::create(builder, location, type, value, mlir::Value(), quantization);
  }
  return quantized;
}

/// One scale covers the tensor, however its axes are merged: all dots take the same codes. `value`
/// is of the merged shape, or the side's own.
mlir::Value Rewriting::quantizeDelayed(const DotSide& side, mlir::Value value,
                                       const MergedAxes& merged) {
  stablehlo::DotGeneralOp op = side.op;
  const DelayedScaling& scaling = *side.settings->delayed;
  const auto [found, isNew] =
      codes.try_emplace(std::tuple(value.getAsOpaquePointer(), &*side.format->element,
                                   scaling.margin, side.isRoundedAtRandom()));
  if (isNew) {
    mlir::Value bits;
    if (side.isRoundedAtRandom()) {
      mlir::OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
      bits = random.bits(builder, op.getLoc(), type.getShape());
    }
    found->second = delayed.quantize(value, *side.format->element, scaling, bits);
  }
  const auto& [elements, inverse] = found->second;

  mlir::OpBuilder builder(op);
  const ir::ScaledType type =
      scaledType(builder.getContext(), *side.format, merged.shape, merged.contracting);
  const auto grid = mlir::RankedTensorType::get(
      llvm::SmallVector<std::int64_t>(merged.shape.size(), 1), builder.getF32Type());
  const mlir::Value scale = stablehlo::ReshapeOp::create(builder, op.getLoc(), grid, inverse);
  const mlir::Value merging =
      value == side.value() ? applyMerge(builder, op.getLoc(), elements, merged) : elements;
  return ir::PackOp::create(builder, op.getLoc(), type, merging, scale, mlir::Value());
}

void Rewriting::finishState(DotReport& report) {
  for (auto& [function, scales, history] : delayed.finish())
    report.delayed.push_back({function.getName().str(), scales, history});
  for (mlir::Operation* function : random.finish())
    report.random.push_back(llvm::cast<mlir::func::FuncOp>(function).getName().str());
}

Rewriting::ScaledSide Rewriting::scaled(const DotSide& side, mlir::Value signs) {
  MergedAxes merged = side.merged();
  if (const AheadSide* ahead = plan.find(side)) {
    stablehlo::DotGeneralOp op = side.op;
    maybeUnused.insert(side.trace.movement.begin(), side.trace.movement.end());
    return {taken(*ahead, op, side.contracting.size() > 1 ? &merged : nullptr), ahead->batching,
            ahead->contracting};
  }
  if (const mlir::Value moved = signs ? mlir::Value() : patches(side, merged))
    return {moved, merged.batching, {merged.contracting}};
  const bool isDelayed = side.format && side.settings->delayed;
  mlir::Value value = isDelayed && !signs ? side.value() : merge(side, merged);
  if (signs) {
    stablehlo::DotGeneralOp op = side.op;
    mlir::OpBuilder builder(op);
    value = rotated(builder, op.getLoc(), value, merged.contracting, signs);
    merged.shape.assign(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
  }
  if (isDelayed)
    value = quantizeDelayed(side, value, merged);
  else if (side.format)
    value = quantize(side, value, merged);
  return {value, merged.batching, {merged.contracting}};
}

void Rewriting::replace(const Dot& dot) {
  stablehlo::DotGeneralOp op = dot.op();
  mlir::OpBuilder builder(op);
  mlir::Value signs;
  if (const std::int64_t size = dot.hadamard())
    signs = random.bits(builder, op.getLoc(), {size});
  const ScaledSide lhs = scaled(dot.sides[0], signs);
  const ScaledSide rhs = scaled(dot.sides[1], signs);
  auto scaledDot = ir::DotGeneralOp::create(
      builder, op.getLoc(), op.getResult().getType(), lhs.value, rhs.value,
      stablehlo::DotDimensionNumbersAttr::get(op.getContext(), lhs.batching, rhs.batching,
                                              lhs.contracting, rhs.contracting),
      mlir::TypeAttr());
  scaledDot->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesWith(scaledDot.getResult());
  op.erase();
}

bool hasUnusedResult(stablehlo::OptimizationBarrierOp barrier) {
  return llvm::any_of(barrier->getResults(), [](mlir::Value each) { return each.use_empty(); });
}

/// A barrier before what else stands behind one, in whose place it comes.
mlir::Operation* withUsedResults(stablehlo::OptimizationBarrierOp barrier) {
  llvm::SmallVector<mlir::Value> operands, results;
  for (auto [operand, result] : llvm::zip_equal(barrier->getOperands(), barrier->getResults()))
    if (!result.use_empty()) {
      operands.push_back(operand);
      results.push_back(result);
    }
  mlir::OpBuilder builder(barrier);
  auto fewer = stablehlo::OptimizationBarrierOp::create(
      builder, barrier.getLoc(), mlir::ValueRange(operands).getTypes(), operands);
  for (auto [before, result] : llvm::zip_equal(results, fewer->getResults()))
    before.replaceAllUsesWith(result);
  return fewer;
}

void Rewriting::eraseUnused() {
  weights.finish();
  for (bool hasErased = true; hasErased;) {
    hasErased = false;
    for (mlir::Operation* op : llvm::to_vector(maybeUnused)) {
      auto barrier = llvm::dyn_cast<stablehlo::OptimizationBarrierOp>(op);
      const bool isUnused = op->use_empty();
      if (!isUnused && !(barrier && hasUnusedResult(barrier)))
        continue;
      maybeUnused.remove(op);
      if (!isUnused)
        maybeUnused.insert(withUsedResults(barrier));
      op->erase();
      hasErased = true;
    }
  }
}

/// What a record says of where the weight of a quantized dot is quantized.
std::string describeTime(const Dot& dot, const WeightPlan& plan) {
  const DotSide* weight = dot.weight();
  if (!weight)
    return "both sides quantized in the program";
  const std::string reason = plan.reasonInProgram(*weight);
  if (plan.find(*weight) && reason.empty())
    return weight->trace.origin == Origin::Constant ? "weight quantized ahead"
                                                    : "weight quantized when it is bound";
  return "weight quantized in the program" + (reason.empty() ? "" : ": " + reason);
}

/// What a record says of static scales.
std::string describeScales(const Dot& dot) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const DotSide& side : dot.sides)
    if (side.amax)
      out << "; static scale of " << (side.index == 0 ? "lhs" : "rhs") << " for amax "
          << llvm::format("%.6g", static_cast<double>(*side.amax));
  return text;
}

/// What a record says of random numbers.
std::string describeRandom(const Dot& dot) {
  std::string text;
  if (llvm::any_of(dot.sides, std::mem_fn(&DotSide::isRoundedAtRandom)))
    text += "; gradient rounded stochastically";
  if (const std::int64_t size = dot.hadamard())
    text += "; both sides rotated, " + std::to_string(size) + " elements at a time";
  return text;
}

/// For weights that no memory holds, but a program may name.
std::int64_t saturatingProduct(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

/// The weights of all dots, and which are whose. An argument that several functions see is one
/// weight.
void addWeights(DotReport& report, llvm::ArrayRef<Dot> dots, const WeightPlan& plan) {
  llvm::StringMap<std::size_t> named;
  llvm::DenseMap<mlir::Value, std::size_t> constants;
  for (const auto& [dot, record] : llvm::zip_equal(dots, report.dots))
    for (const DotSide& side : dot.sides) {
      if (!side.isWeight())
        continue;
      const mlir::Value source = side.trace.sources.front();
      const auto type = llvm::cast<mlir::RankedTensorType>(source.getType());
      if (!type.hasStaticShape())
        continue;
      const std::size_t next = report.weights.size();
      const std::size_t at = side.trace.origin == Origin::Constant
                                 ? constants.try_emplace(source, next).first->second
                                 : named.try_emplace(side.trace.name, next).first->second;
      record.weightRecords.push_back(at);
      if (at < next)
        continue;
      const std::int64_t bits =
          saturatingProduct(type.getNumElements(), stablehlo::bitWidth(type.getElementType()));
      const auto ahead = plan.roots().find(source);
      const bool isAhead = ahead != plan.roots().end() && plan.reasonInProgram(side).empty();
      report.weights.push_back({side.trace.name, type.getNumElements(), bits,
                                isAhead ? ahead->second.type.getStoredBits() : bits});
    }
}

std::int64_t sum(llvm::ArrayRef<WeightRecord> weights, std::int64_t WeightRecord::* bits) {
  std::int64_t total = 0;
  for (const WeightRecord& weight : weights)
    if (__builtin_add_overflow(total, weight.*bits, &total))
      return std::numeric_limits<std::int64_t>::max();
  return total;
}

} // namespace

std::string DotRecord::sizes() const {
  const auto spell = [](std::optional<std::int64_t> extent) {
    return extent ? std::to_string(*extent) : "?";
  };
  const std::string product = spell(m) + "x" + spell(n) + "x" + spell(k);
  return batch == 1 ? product : spell(batch) + " of " + product;
}

std::int64_t DotReport::quantized() const {
  return llvm::count_if(dots, [](const DotRecord& dot) { return dot.isQuantized; });
}

bool DotReport::hasState() const {
  return !delayed.empty() || !random.empty() ||
         llvm::any_of(caches, [](const CacheRecord& cache) { return cache.format != nullptr; });
}

std::int64_t DotReport::weightBitsBefore() const { return sum(weights, &WeightRecord::bitsBefore); }

std::int64_t DotReport::weightBitsAfter() const { return sum(weights, &WeightRecord::bitsAfter); }

const format::ScaledFormat* defaultActivations(const format::ScaledFormat& weights) {
  return weights.activation.empty() ? nullptr : format::findScaledFormat(weights.activation);
}

llvm::Error checkOptions(const DotOptions& options) { return DotChoice::make(options).takeError(); }

/// Has the dots that are left and read caches multiply their codes, and says so in their records.
static void readCodes(llvm::ArrayRef<Dot> dots,
                      const llvm::DenseSet<mlir::Operation*>& inConvolutions, DotReport& report) {
  llvm::SmallVector<stablehlo::DotGeneralOp> left;
  llvm::SmallVector<std::pair<DotRecord*, std::array<const CacheRecord*, 2>>> records;
  for (const auto& [dot, record] : llvm::zip_equal(dots, report.dots)) {
    if (record.isQuantized || inConvolutions.contains(dot.op()))
      continue;
    const std::array caches = {cacheBehind(dot.sides[0].value(), report.caches),
                               cacheBehind(dot.sides[1].value(), report.caches)};
    if (!caches[0] && !caches[1])
      continue;
    left.push_back(dot.op());
    records.emplace_back(&record, caches);
  }
  const RecoverReport recovered = recoverDots(left);
  for (const auto& [each, found] : llvm::zip_equal(records, recovered.dots)) {
    auto& [record, caches] = each;
    const CacheRecord* cache = caches[0] ? caches[0] : caches[1];
    record->isQuantized = found.width == DotWidth::Narrow;
    if (!record->isQuantized) {
      record->reason += "; it reads values of the cache " + cache->name + ": '" + found.obstacle +
                        "' at " + found.place + " " + found.reason;
      continue;
    }
    record->lhs = caches[0] && found.isScaled[0] ? caches[0]->format : nullptr;
    record->rhs = caches[1] && found.isScaled[1] ? caches[1]->format : nullptr;
    record->reason = "reads codes of the cache " + cache->name +
                     (caches[0] && caches[1] ? " and of " + caches[1]->name : "");
    if (found.isOneSided())
      record->reason +=
          "; one side stays wide: '" + found.obstacle + "' at " + found.place + " " + found.reason;
  }
}

/// Has what is quantized, and no round of a loop changes, come from before the loop, where it is
/// quantized once.
static void takeFromBeforeLoops(const DotChoice& choice, std::vector<Dot>& dots) {
  for (Dot& dot : dots)
    for (DotSide& side : dot.sides)
      if (side.format && !side.isRoundedAtRandom()) // each round draws numbers of its own
        takeFromBeforeLoops(side.value());
  for (Dot& dot : dots)
    for (DotSide& side : dot.sides)
      side.trace = choice.trace(side.value());
}

static std::string reasonToLeave(mlir::Operation* product) {
  const std::string name = product->getName().getStringRef().str();
  if (llvm::isa<stablehlo::DynamicConvOp>(product))
    return "it is a convolution whose padding is an operand (" + name + ")";
  return "it is " + name + ", and stablehlo.dot_general is quantized";
}

static std::vector<OtherProduct>
otherProducts(mlir::ModuleOp module, const llvm::DenseMap<mlir::Operation*, std::string>& left) {
  std::vector<OtherProduct> others;
  module.walk([&](mlir::Operation* op) {
    const auto convolution = left.find(op);
    if (convolution == left.end() && !llvm::isa<stablehlo::DynamicConvOp, stablehlo::DotOp,
                                                stablehlo::EinsumOp, chlo::RaggedDotOp>(op))
      return;
    auto function = op->getParentOfType<mlir::func::FuncOp>();
    others.push_back(
        {sourceName(op->getLoc()), function ? function.getName().str() : "", op->getLoc(),
         convolution == left.end() ? reasonToLeave(op)
                                   : "it is a convolution, and " + convolution->second});
  });
  return others;
}

static llvm::Expected<DotReport> quantizeWithin(mlir::ModuleOp module, const DotOptions& options) {
  llvm::Expected<DotChoice> choice = DotChoice::make(options);
  if (!choice)
    return choice.takeError();
  DotReport report;
  if (!options.caches.empty()) {
    auto caches = quantizeCaches(module, options.caches);
    if (!caches)
      return caches.takeError();
    report.caches = std::move(*caches);
  }
  ConvolutionDots convolutions = writeConvolutionDots(module);
  llvm::DenseMap<mlir::Operation*, std::int64_t> features;
  for (const ConvolutionDot& each : convolutions.written)
    features[each.dot()] = each.features();
  std::vector<Dot> dots;
  module.walk([&](stablehlo::DotGeneralOp op) {
    dots.push_back(choice->describe(op));
    if (const auto found = features.find(op); found != features.end())
      dots.back().sides[1].features = found->second;
  });
  if (llvm::Error error = choice->look(dots))
    return std::move(error);
  for (const auto& [number, dot] : llvm::enumerate(dots)) {
    dot.record.reason = options.kept == number ? "kept as it is" : choice->reasonToLeave(dot);
    dot.record.isQuantized = dot.record.reason.empty();
    if (!dot.record.isQuantized)
      for (DotSide& side : dot.sides)
        side.format = nullptr;
    dot.record.lhs = dot.sides[0].format;
    dot.record.rhs = dot.sides[1].format;
  }
  if (llvm::Error error = setStaticScales(dots))
    return std::move(error);
  if (llvm::Error error = setColumnExponents(dots))
    return std::move(error);

  report.others = otherProducts(module, convolutions.left);
  llvm::DenseSet<mlir::Operation*> quantized;
  for (const Dot& dot : dots)
    if (dot.record.isQuantized)
      quantized.insert(dot.op());
  const auto putBack =
      llvm::partition(convolutions.written, [&](const ConvolutionDot& convolution) {
        return quantized.contains(convolution.dot());
      });
  const auto taken = llvm::make_range(convolutions.written.begin(), putBack),
             left = llvm::make_range(putBack, convolutions.written.end());
  for (ConvolutionDot& each : taken)
    each.finish();
  takeFromBeforeLoops(*choice, dots);
  llvm::Expected<WeightPlan> plan = WeightPlan::make(*choice, dots);
  if (!plan)
    return plan.takeError();
  for (Dot& dot : dots) {
    dot.record.lhsAmax = dot.sides[0].amax;
    dot.record.rhsAmax = dot.sides[1].amax;
    if (dot.record.isQuantized)
      dot.record.reason = describeTime(dot, *plan) + describeScales(dot) + describeExponents(dot) +
                          describeRandom(dot);
    report.dots.push_back(dot.record);
  }
  addWeights(report, dots, *plan);

  Rewriting rewriting(*plan);
  for (const ConvolutionDot& each : taken)
    rewriting.take(each);
  rewriting.quantizeRoots();
  for (const Dot& dot : dots)
    if (dot.record.isQuantized)
      rewriting.replace(dot);
  rewriting.eraseUnused();
  rewriting.finishState(report);
  llvm::DenseSet<mlir::Operation*> inConvolutions;
  for (ConvolutionDot& each : left) {
    inConvolutions.insert(each.dot());
    each.putBack();
  }
  if (!report.caches.empty())
    readCodes(dots, inConvolutions, report);
  return report;
}

llvm::Expected<DotReport> quantizeDots(mlir::ModuleOp module, const DotOptions& options) {
  openWrappers(module);
  openMovement(module);
  const bool changesBefore =
      module
          .walk([](mlir::Operation* op) {
            return llvm::isa<stablehlo::WhileOp, stablehlo::ConvolutionOp>(op)
                       ? mlir::WalkResult::interrupt()
                       : mlir::WalkResult::advance();
          })
          .wasInterrupted();
  if (options.caches.empty() && !changesBefore)
    return quantizeWithin(module, options);
  // Caches, loops and convolutions change before all is decided, and an error must leave the
  // program as it was.
  mlir::OwningOpRef<mlir::ModuleOp> changed(module.clone());
  llvm::Expected<DotReport> report = quantizeWithin(*changed, options);
  if (report) {
    if (!options.caches.empty()) {
      mlir::IRRewriter rewriter(module.getContext());
      mlir::DominanceInfo dominance;
      mlir::eliminateCommonSubExpressions(rewriter, dominance, *changed);
    }
    module.getBodyRegion().takeBody(changed->getBodyRegion());
  }
  return report;
}

} // namespace octavo::transforms
