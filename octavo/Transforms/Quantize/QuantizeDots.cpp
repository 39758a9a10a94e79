#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Base/Shortened.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Legalize/ConvolutionDots.h"
#include "octavo/Transforms/Legalize/RaggedDots.h"
#include "octavo/Transforms/Quantize/DotChoice.h"
#include "octavo/Transforms/Quantize/DotRewriting.h"
#include "octavo/Transforms/Quantize/WeightPlan.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/LoopInvariants.h"
#include "octavo/Transforms/Walks/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace octavo::transforms {

namespace {

/// When the weight of a quantized dot is quantized, in words.
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

/// The static scales of a dot, in words.
std::string describeScales(const Dot& dot) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const DotSide& side : dot.sides)
    if (side.amax)
      out << "; static scale of " << (side.index == 0 ? "lhs" : "rhs") << " for amax "
          << llvm::format("%.6g", static_cast<double>(*side.amax));
  return text;
}

/// Stochastic rounding and rotation of a dot, in words.
std::string describeRandom(const Dot& dot) {
  std::string text;
  if (llvm::any_of(dot.sides, std::mem_fn(&DotSide::isRoundedAtRandom)))
    text += "; gradient rounded stochastically";
  if (const std::int64_t size = dot.hadamard())
    text += "; both sides rotated, " + std::to_string(size) + " elements at a time";
  return text;
}

/// Saturates, since a program may declare weights larger than any memory.
std::int64_t saturatingProduct(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

/// Records the weights of all dots, and links each dot to its weights. A named argument of several
/// functions is one weight.
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

std::string DotReport::whyLeft() const {
  for (const DotRecord& dot : dots)
    if (!dot.isQuantized)
      return "of " + dot.name + ": " + dot.reason;
  return others.empty() ? "the program has no dots"
                        : "of " + others.front().name + ": " + others.front().reason;
}

std::vector<std::string> DotReport::leftCaches() const {
  std::vector<std::string> lines;
  for (const CacheRecord& cache : caches)
    if (cache.format == nullptr && !cache.isKept)
      lines.push_back("kv_cache left the cache " + cache.name + " of @" + cache.function +
                      " as it was: " + cache.reason);
  return lines;
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

/// Rewrites dots that are left and read caches to multiply the codes, and says so in their records.
static void readCodes(llvm::ArrayRef<Dot> dots,
                      const llvm::DenseSet<mlir::Operation*>& inConvolutions, DotReport& report) {
  llvm::SmallVector<stablehlo::DotGeneralOp> left;
  llvm::SmallVector<std::pair<DotRecord*, std::array<const CacheRecord*, 2>>> records;
  for (const auto& [dot, record] : llvm::zip_equal(dots, report.dots)) {
    if (record.isQuantized || inConvolutions.contains(dot.op()))
      continue;
    std::array caches = {cacheBehind(dot.sides[0].value(), report.caches),
                         cacheBehind(dot.sides[1].value(), report.caches)};
    for (const CacheRecord*& cache : caches)
      if (cache && !cache->format) {
        record.reason +=
            "; it reads the cache " + cache->name + ", which is left: " + cache->reason;
        cache = nullptr;
      }
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

/// Hoists values that are quantized and that loops do not change out of these loops, where they are
/// quantized once.
static void takeFromBeforeLoops(mlir::ModuleOp module, DotChoice& choice, std::vector<Dot>& dots) {
  const auto isLoop = [](mlir::Operation* op) {
    return llvm::isa<stablehlo::WhileOp>(op) ? mlir::WalkResult::interrupt()
                                             : mlir::WalkResult::advance();
  };
  if (module.walk(isLoop).wasInterrupted())
    for (Dot& dot : dots)
      for (DotSide& side : dot.sides)
        if (side.format && !side.isRoundedAtRandom()) // each iteration draws other numbers
          takeFromBeforeLoops(side.value(), choice.calls());
  choice.take(module);
  for (Dot& dot : dots)
    for (DotSide& side : dot.sides)
      side.trace = choice.trace(side.value());
}

static std::string reasonToLeave(mlir::Operation* product) {
  const std::string name = product->getName().getStringRef().str();
  if (llvm::isa<ir::DotGeneralOp, ir::FusedDotOp>(product))
    return "it multiplies scaled tensors already";
  if (llvm::isa<stablehlo::DynamicConvOp>(product))
    return "it is a convolution whose padding is an operand (" + name + ")";
  if (llvm::isa<chlo::RaggedDotOp>(product))
    return "it is " + name + ", and those of floats are quantized whose ragged axis is the one " +
           "free axis of lhs, and whose groups are the first axis of rhs";
  return "it is " + name + ", and stablehlo.dot_general is quantized";
}

static std::vector<OtherProduct>
otherProducts(mlir::ModuleOp module, const llvm::DenseMap<mlir::Operation*, std::string>& left,
              llvm::ArrayRef<DotOfGroups> ragged) {
  std::vector<OtherProduct> others;
  const auto operations = llvm::map_range(ragged, std::mem_fn(&DotOfGroups::operation));
  const llvm::DenseSet<mlir::Operation*> ofGroups(operations.begin(), operations.end());
  module.walk([&](mlir::Operation* op) {
    const auto convolution = left.find(op);
    if (convolution == left.end() &&
        !llvm::isa<ir::DotGeneralOp, ir::FusedDotOp, stablehlo::DynamicConvOp, stablehlo::DotOp,
                   stablehlo::EinsumOp, chlo::RaggedDotOp>(op))
      return;
    if (ofGroups.contains(op))
      return;
    auto function = op->getParentOfType<mlir::func::FuncOp>();
    others.push_back(
        {sourceName(op->getLoc()), function ? function.getName().str() : "", op->getLoc(),
         convolution == left.end() ? reasonToLeave(op)
                                   : "it is a convolution, and " + convolution->second});
  });
  return others;
}

/// Quotes a pattern in a message, shortened.
static std::string quotedPattern(const std::string& pattern) {
  return "\"" + base::shortened(pattern, 200) + "\"";
}

/// Names near a pattern that matches nothing: whole names, and the parts between their separators.
static std::string nearText(const std::string& pattern, const std::vector<std::string>& names) {
  std::vector<std::string> known = names;
  for (llvm::StringRef name : names)
    for (llvm::StringRef rest = name; !rest.empty();) {
      const llvm::StringRef part =
          rest.take_until([](char c) { return llvm::StringRef("/.[]'\"").contains(c); });
      if (!part.empty() && part != name && !llvm::is_contained(known, part))
        known.push_back(part.str());
      rest = rest.drop_front(std::min(part.size() + 1, rest.size()));
    }
  const std::vector<std::string> near = base::nearNames(pattern, known);
  return near.empty() ? "" : "; near it: " + llvm::join(near, ", ");
}

/// Fails on a pattern that matches nothing, since it is probably misspelt. A module without
/// products has nothing to match.
static llvm::Error checkPatterns(const DotOptions& options, const std::vector<Dot>& dots,
                                 const std::vector<OtherProduct>& others) {
  const auto findsNone = [](const std::string& pattern, const std::vector<std::string>& names) {
    return !pattern.empty() && llvm::none_of(names, [&](const std::string& name) {
      return RE2::PartialMatch(name, pattern);
    });
  };
  std::vector<std::string> products;
  for (const Dot& dot : dots)
    for (const std::string& name : {dot.record.name, dot.record.weight})
      if (!name.empty())
        products.push_back(name);
  for (const OtherProduct& other : others)
    products.push_back(other.name);
  if (dots.empty() && others.empty())
    return llvm::Error::success();
  for (const auto& [option, pattern] :
       {std::pair("match", &options.match), std::pair("exclude", &options.exclude)})
    if (findsNone(*pattern, products))
      return llvm::createStringError(std::string(option) + ": " + quotedPattern(*pattern) +
                                     " is found in the name of no dot and of no dot's weight" +
                                     nearText(*pattern, products));
  return llvm::Error::success();
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
  std::vector<DotOfGroups> ragged = writeRaggedDots(module);
  llvm::DenseMap<mlir::Operation*, std::int64_t> features;
  for (const ConvolutionDot& each : convolutions.written)
    features[each.dot()] = each.features();
  choice->take(module);
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

  report.others = otherProducts(module, convolutions.left, ragged);
  if (llvm::Error error = checkPatterns(options, dots, report.others))
    return std::move(error);
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
  llvm::DenseSet<mlir::Operation*> ofScaledActivations;
  for (const Dot& dot : dots)
    if (const DotSide& lhs = dot.sides[0]; lhs.format != nullptr && !lhs.isWeight())
      ofScaledActivations.insert(dot.op());
  for (DotOfGroups& each : ragged) {
    if (!quantized.contains(each.dot()))
      continue;
    if (ofScaledActivations.contains(each.dot()))
      each.leaveOutRowsOfNone();
    each.finish();
  }
  llvm::erase_if(ragged, [&](const DotOfGroups& each) { return quantized.contains(each.dot()); });
  takeFromBeforeLoops(module, *choice, dots);
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

  DotRewriting rewriting(*plan, choice->calls());
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
  for (DotOfGroups& each : ragged) {
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
  const bool changesBefore = module
                                 .walk([](mlir::Operation* op) {
                                   return llvm::isa<stablehlo::WhileOp, stablehlo::ConvolutionOp,
                                                    chlo::RaggedDotOp, stablehlo::CompositeOp>(op)
                                              ? mlir::WalkResult::interrupt()
                                              : mlir::WalkResult::advance();
                                 })
                                 .wasInterrupted();
  if (options.caches.empty() && !changesBefore)
    return quantizeWithin(module, options);
  // Works on a clone: caches, loops, convolutions and ragged dots change before everything is
  // decided, and an error must leave the program as it was.
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
