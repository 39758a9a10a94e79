// The pass octavo-quantize-dots: parses its options and reports records as remarks.
#include "octavo/Base/NearNames.h"
#include "octavo/Format/UnknownFormat.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include "mlir/IR/Diagnostics.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_QUANTIZEDOTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

/// Finds a format by name. `others` are further names for the suggestions in the error.
llvm::Expected<const format::ScaledFormat*>
findFormat(llvm::StringRef option, llvm::StringRef name,
           const std::vector<std::string>& others = {}) {
  if (const format::ScaledFormat* row = format::findScaledFormat(name))
    return row;
  std::vector<std::string> known = base::namesOf(format::kScaledFormats);
  known.insert(known.end(), others.begin(), others.end());
  return llvm::createStringError(option.str() + ": " + format::unknownFormat(name, known));
}

std::string ruleNames() {
  std::string names;
  for (const format::ScaleRuleRow& row : format::kScaleRules)
    names += " " + std::string(row.name);
  return names;
}

class QuantizeDots : public impl::QuantizeDotsBase<QuantizeDots> {
public:
  using QuantizeDotsBase::QuantizeDotsBase;

  void runOnOperation() override {
    llvm::Expected<DotOptions> options = parseOptions();
    if (!options)
      return fail(llvm::toString(options.takeError()));
    llvm::Expected<DotReport> report = quantizeDots(getOperation(), *options);
    if (!report)
      return fail(llvm::toString(report.takeError()));
    for (const CacheRecord& cache : report->caches)
      remark(cache);
    for (const DotRecord& dot : report->dots)
      remark(dot);
    for (const OtherProduct& other : report->others)
      mlir::emitRemark(other.location) << other.name << " left: " << other.reason;
  }

private:
  llvm::Expected<DotOptions> parseOptions() {
    DotOptions result;
    if (llvm::Error error = recipe.empty() ? parseFormats(result) : parseRecipe(result))
      return std::move(error);
    result.match = match;
    result.exclude = exclude;
    result.parameters = parameters;
    result.minSize = minSize;
    result.activationPairs = bothActivations ? ActivationPairs::Quantize : ActivationPairs::Leave;
    result.weightTime = ahead ? WeightTime::Ahead : WeightTime::InProgram;
    return result;
  }

  llvm::Error parseRecipe(DotOptions& result) {
    for (const Option<std::string>* each :
         {&weights, &activations, &rule, &nonFinite, &preset, &calibration, &range})
      if (!each->empty())
        return llvm::createStringError(each->getArgStr() +
                                       "= is given beside recipe=, whose rules say it; give one");
    llvm::Expected<Recipe> read = readRecipe(recipe);
    if (!read)
      return read.takeError();
    static_cast<Recipe&>(result) = std::move(*read);
    return llvm::Error::success();
  }

  /// Reads the options that give all dots one format.
  llvm::Error parseFormats(DotOptions& result) {
    if (weights.empty())
      return llvm::createStringError("weights=FORMAT or recipe=FILE must be given");
    llvm::Expected<const format::ScaledFormat*> found = findFormat("weights", weights);
    if (!found)
      return found.takeError();
    result.weights = *found;
    result.activations = defaultActivations(*result.weights);
    if (activations == "none") {
      result.activations = nullptr;
    } else if (!activations.empty()) {
      found = findFormat("activations", activations, {"none"});
      if (!found)
        return found.takeError();
      result.activations = *found;
    }
    if (!rule.empty()) {
      result.rule = format::findScaleRule(rule);
      if (!result.rule)
        return llvm::createStringError("no scale rule \"" + rule + "\"; available:" + ruleNames());
    }
    result.preset = preset;
    if (!nonFinite.empty() && !(result.nonFinite = numerics::findNonFinite(nonFinite))) {
      std::string known;
      for (const std::string& name : numerics::nonFiniteNames())
        known += " " + name;
      return llvm::createStringError("no policy \"" + nonFinite +
                                     "\" for NaN and Inf; available:" + known);
    }
    if (!calibration.empty()) {
      auto read = analysis::readCalibration(calibration.getValue());
      if (!read)
        return llvm::createStringError(read.error().message());
      result.scales = std::make_shared<const StaticScales>(
          StaticScales{calibration.getValue(), std::move(*read)});
    }
    if (!range.empty()) {
      const auto found = analysis::findRangeChoice(range);
      if (!found)
        return llvm::createStringError("no range \"" + range +
                                       "\"; available: " + std::string(analysis::kRangeSpellings));
      if (!result.scales)
        return llvm::createStringError(
            "range= chooses a range of a calibration: give calibration= too");
      result.range = *found;
    }
    return llvm::Error::success();
  }

  static void remark(const CacheRecord& cache) {
    auto diagnostic = mlir::emitRemark(cache.location);
    diagnostic << "cache " << cache.name;
    if (cache.format)
      diagnostic << " quantized: " << cache.format->name << ", codes " << cache.codes << ", scales "
                 << cache.scales;
    else
      diagnostic << " left: " << cache.reason;
  }

  static void remark(const DotRecord& dot) {
    auto diagnostic = mlir::emitRemark(dot.location);
    diagnostic << dot.name << " (" << dot.sizes() << ") ";
    if (!dot.isQuantized) {
      diagnostic << "left: " << dot.reason;
      return;
    }
    const auto name = [](const format::ScaledFormat* format) {
      return format ? llvm::StringRef(format->name) : llvm::StringRef("wide");
    };
    diagnostic << "quantized: " << name(dot.lhs) << " x " << name(dot.rhs) << ", " << dot.reason;
  }
};

} // namespace

} // namespace octavo::transforms
