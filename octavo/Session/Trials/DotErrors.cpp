#include "octavo/Session/Trials/DotErrors.h"

#include "octavo/Program/Values/Comparison.h"
#include "octavo/Program/Values/FloatValues.h"
#include "octavo/Program/Values/Probes.h"
#include "octavo/Program/Values/QuantizedArgument.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/OutputLosses.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/OpenExtents.h"
#include "octavo/Transforms/Legalize/ConvolutionDots.h"
#include "octavo/Transforms/Legalize/RaggedDots.h"
#include "octavo/Transforms/Quantize/ProbeDots.h"
#include "octavo/Transforms/Walks/DotNumbers.h"
#include "octavo/Transforms/Walks/Inlining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace octavo::session {

namespace {

using program::Tensor;
using program::Value;
using transforms::DotValue;

/// Receives the tensors of probeResults and, in a later run, of probeDots.
class DotProbes : public program::Probes {
public:
  explicit DotProbes(std::vector<DotError>& dots) : dots(dots) {}

  /// Sets the dots of the next run.
  void take(const std::vector<transforms::ProbedDot>& probed) {
    for (const transforms::ProbedDot& dot : probed)
      sides[dot.number] = dot.sides;
  }

  /// Called after the last run. Drops accumulated losses of dots that ran a different number of
  /// times.
  void end() {
    for (const auto& [number, left] : unchanged)
      if (!left.empty())
        dots[number].accumulated = {};
    unchanged.clear();
  }

  program::Outcome write(std::string_view id, std::string_view /*type*/,
                         const Tensor& tensor) override {
    const auto probed = transforms::probedValue(id);
    if (!probed) // a probe of the program itself
      return {};
    const auto [number, what] = *probed;
    const std::lock_guard lock(mutex);
    DotError& dot = dots[number];
    switch (what) {
    case DotValue::Lhs:
    case DotValue::Rhs:
      addSide(dot.sides[static_cast<std::size_t>(what)],
              sides.at(number)[static_cast<std::size_t>(what)], tensor);
      break;
    case DotValue::Result:
      addAccumulated(number, tensor);
      addResult(dot, what, tensor);
      break;
    case DotValue::WideResult:
      addResult(dot, what, tensor);
      break;
    case DotValue::Unchanged: {
      const program::FloatValues values(tensor);
      unchanged[number].emplace_back(values.get().begin(), values.get().end());
      break;
    }
    }
    return {};
  }

  tl::expected<Tensor, std::string> read(std::string_view id, std::uint32_t /*iteration*/,
                                         std::string_view /*type*/) override {
    return tl::unexpected(fmt::format("the probe \"{}\" is not kept", id));
  }

private:
  static void addSide(analysis::QuantizationLoss& loss,
                      const std::optional<transforms::OperandQuantization>& quantization,
                      const Tensor& tensor) {
    const program::FloatValues values(tensor);
    if (quantization)
      loss.add(values.get(), tensor.shape, quantization->type, quantization->options);
    else
      loss.sums.add(values.get(), values.get());
  }

  /// The two results of a dot arrive in succession. The first is kept until the second arrives.
  void addResult(DotError& dot, DotValue what, const Tensor& tensor) {
    if (!waiting) {
      waiting = tensor;
      return;
    }
    const program::FloatValues first(*waiting), second(tensor);
    const bool isWide = what == DotValue::WideResult;
    dot.result.add((isWide ? second : first).get(), (isWide ? first : second).get());
    ++dot.runs;
    waiting.reset();
  }

  /// A dot that runs more often than in the unquantized program is marked by an empty result.
  void addAccumulated(std::size_t number, const Tensor& tensor) {
    std::deque<std::vector<float>>& left = unchanged[number];
    if (left.empty()) {
      left.emplace_back();
    } else if (!left.front().empty()) {
      dots[number].accumulated.add(left.front(), program::FloatValues(tensor).get());
      left.pop_front();
    }
  }

  std::vector<DotError>& dots;
  std::map<std::size_t, std::array<std::optional<transforms::OperandQuantization>, 2>> sides;
  /// Per dot, its results in the unquantized run, one per execution.
  std::map<std::size_t, std::deque<std::vector<float>>> unchanged;
  std::mutex mutex;
  std::optional<Tensor> waiting;
};

/// Quantizes the unquantized program's values for arguments that are scaled tensors. A weight is
/// quantized again only if a run needs other options: dots that read one activation share
/// exponents, and a dot that is left unquantized has no part in them.
class QuantizedValues {
public:
  explicit QuantizedValues(std::span<const Value> wide) : wide(wide), made(wide.size()) {}

  llvm::Expected<std::vector<Value>> of(const std::vector<program::Argument>& arguments) {
    std::vector<Value> values(wide.begin(), wide.end());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].isScaled() || wide[i].isScaled())
        continue;
      const auto& wanted = std::get<program::ScaledArgument>(arguments[i].type);
      if (!made[i] || made[i]->argument != wanted) {
        auto quantized = program::quantizedFor(arguments[i], wide[i].tensor());
        if (!quantized)
          return session::failure(
              fmt::format("argument \"{}\": {}", arguments[i].name,
                          program::describeRefused(arguments[i], quantized.error())));
        made[i] = Made{wanted, std::move(*quantized)};
      }
      values[i] = made[i]->value;
    }
    return values;
  }

private:
  struct Made {
    program::ScaledArgument argument;
    Value value;
  };
  std::span<const Value> wide;
  std::vector<std::optional<Made>> made;
};

/// Appends the plain tensors of a result.
void addTensors(const Value& value, std::vector<Value>& tensors) {
  if (value.isTuple())
    for (const Value& element : value.elements())
      addTensors(element, tensors);
  else if (value.isTensor())
    tensors.push_back(value);
}

struct OutputError {
  double error = 0;
  std::int64_t nonFinite = 0;
  std::int64_t counted = 0;
  std::int64_t rowsOfOne = 0;
};

OutputError outputError(const std::vector<Value>& reference, const std::vector<Value>& found) {
  OutputError sum;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Tensor& expected = reference[i].tensor();
    if (!expected.type.isFloat() && !expected.type.isComplex())
      continue;
    const program::Comparison comparison = program::compare(expected, found[i].tensor());
    sum.nonFinite += comparison.nonFinite;
    if (session::hasRowsOfOne(expected.shape)) {
      ++sum.rowsOfOne;
      continue;
    }
    ++sum.counted;
    if (std::isfinite(comparison.relative))
      sum.error += comparison.relative * comparison.relative;
  }
  return sum;
}

/// Runs copies of a function's module.
class Runs {
public:
  Runs(mlir::func::FuncOp function, std::span<const Value> values, const DotErrorOptions& options)
      : module(function->getParentOfType<mlir::ModuleOp>().clone()), name(function.getName().str()),
        options(options), values(values), quantized(values) {
    // As in quantizeDots, so that the dots have its numbers.
    transforms::openWrappers(*module);
    for (transforms::ConvolutionDot& each : transforms::writeConvolutionDots(*module).written)
      each.finish();
    for (transforms::DotOfGroups& each : transforms::writeRaggedDots(*module))
      each.finish();
    transforms::numberDots(*module);
  }

  transforms::DotGraph graph() {
    return transforms::dotGraph(module->lookupSymbol<mlir::func::FuncOp>(name));
  }

  /// The unquantized outputs. `probes` receives the results of the dots that `narrow` quantizes.
  llvm::Expected<std::vector<Value>> unchanged(DotProbes& probes,
                                               const transforms::DotReport& narrow) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
    if (llvm::Error error = closeIn(*copy))
      return std::move(error);
    transforms::probeResults(*copy,
                             [&](std::size_t number) { return narrow.dots[number].isQuantized; });
    return run(std::move(copy), &probes);
  }

  struct Quantized {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    transforms::DotReport report;
  };
  llvm::Expected<Quantized> quantize(const transforms::DotOptions& dots) {
    Quantized result{module->clone(), {}};
    auto report = transforms::quantizeDots(*result.module, dots);
    if (!report)
      return report.takeError();
    result.report = std::move(*report);
    return result;
  }

  /// A run in which `probes` receives the operands and results of the quantized dots.
  llvm::Error probe(DotProbes& probes) {
    transforms::DotOptions inProgram = options.dots;
    inProgram.weightTime = transforms::WeightTime::InProgram;
    auto made = quantize(inProgram);
    if (!made)
      return made.takeError();
    if (llvm::Error error = closeIn(*made->module))
      return error;
    probes.take(transforms::probeDots(*made->module));
    return run(std::move(made->module), &probes).takeError();
  }

  llvm::Expected<std::vector<Value>> run(mlir::OwningOpRef<mlir::ModuleOp> copy,
                                         program::Probes* probes) {
    auto function = copy->lookupSymbol<mlir::func::FuncOp>(name);
    auto arguments = session::argumentsOf(function);
    if (!arguments)
      return arguments.takeError();
    auto given = quantized.of(*arguments);
    if (!given)
      return given.takeError();
    if (llvm::Error error = closeIn(*copy))
      return std::move(error);
    auto executable = options.backend->prepare(*copy, name);
    if (!executable)
      return executable.takeError();
    if ((*executable)->processes() != 1)
      return session::failure(
          fmt::format("@{} is a program for {} processes; the errors of dots are found for one",
                      name, (*executable)->processes()));
    program::RunContext host = options.host;
    program::CheckReport unheard;
    DotProbes ignoring(noDots);
    host.checks = &unheard;
    host.probes = probes != nullptr ? probes : &ignoring;
    auto results = (*executable)->run(std::move(*given), host);
    if (!results)
      return session::failure(results.error());
    std::vector<Value> tensors;
    for (const Value& result : *results)
      addTensors(result, tensors);
    return tensors;
  }

private:
  llvm::Error closeIn(mlir::ModuleOp copy) {
    auto function = copy.lookupSymbol<mlir::func::FuncOp>(name);
    return hasOpenExtents(function) ? closeExtents(function, values) : llvm::Error::success();
  }

  mlir::OwningOpRef<mlir::ModuleOp> module; ///< unquantized, with numbered dots
  std::string name;
  const DotErrorOptions& options;
  std::span<const Value> values;
  QuantizedValues quantized;
  std::vector<DotError> noDots;
};

} // namespace

std::int64_t DotErrors::quantized() const {
  return std::ranges::count_if(dots, [](const DotError& dot) { return dot.record.isQuantized; });
}

double DotErrors::sumOfShares() const {
  double sum = 0;
  for (const DotError& dot : dots)
    sum += dot.share.value_or(0);
  return sum;
}

llvm::Expected<DotErrors> dotErrors(mlir::func::FuncOp function, std::span<const Value> values,
                                    const DotErrorOptions& options) {
  Runs runs(function, values, options);
  auto narrow = runs.quantize(options.dots);
  if (!narrow)
    return narrow.takeError();
  if (narrow->report.quantized() == 0)
    return session::failure(
        fmt::format("none of the {} dots is quantized: there is nothing to say of them; {}",
                    narrow->report.dots.size(), narrow->report.whyLeft()));
  if (narrow->report.hasState())
    return session::failure(
        "caches, scales of earlier steps and random numbers make the program one of "
        "other arguments and results, which says nothing of its dots' errors; "
        "quantize with scales of the values themselves, gradients to nearest");

  DotErrors errors{.dots = {}, .graph = runs.graph()};
  for (const transforms::DotRecord& record : narrow->report.dots)
    errors.dots.push_back(
        {.record = record, .sides = {}, .result = {}, .accumulated = {}, .share = {}});
  const auto total = static_cast<std::size_t>(errors.quantized()) + 3;
  std::size_t run = 0;
  const auto next = [&] {
    if (options.onRun)
      options.onRun(run, total);
    ++run;
  };

  next();
  DotProbes probes(errors.dots);
  auto unchanged = runs.unchanged(probes, narrow->report);
  if (!unchanged)
    return unchanged.takeError();
  next();
  auto all = runs.run(std::move(narrow->module), nullptr);
  if (!all)
    return all.takeError();
  next();
  if (llvm::Error error = runs.probe(probes))
    return std::move(error);
  probes.end();

  const OutputError whole = outputError(*unchanged, *all);
  errors.error = whole.error;
  errors.nonFinite = whole.nonFinite;
  errors.counted = whole.counted;
  errors.rowsOfOne = whole.rowsOfOne;
  for (std::size_t number = 0; number < errors.dots.size(); ++number) {
    DotError& dot = errors.dots[number];
    if (!dot.record.isQuantized)
      continue;
    next();
    if (dot.runs == 0 || whole.error == 0 || whole.nonFinite > 0)
      continue;
    transforms::DotOptions others = options.dots;
    others.kept = number;
    auto made = runs.quantize(others);
    if (!made)
      return made.takeError();
    auto without = runs.run(std::move(made->module), nullptr);
    if (!without)
      return without.takeError();
    if (const OutputError left = outputError(*unchanged, *without); left.nonFinite == 0)
      dot.share = 1 - left.error / whole.error;
  }
  return errors;
}

} // namespace octavo::session
