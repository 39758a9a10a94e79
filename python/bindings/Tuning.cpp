#include "python/bindings/Tuning.h"

#include "python/bindings/Array.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FileTypes.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Interruptible.h"
#include "python/bindings/Options.h"
#include "python/bindings/ProgramValues.h"
#include "python/bindings/ProgramWeights.h"
#include "python/bindings/Signals.h"

#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Session/Trials/FormatTuning.h"
#include "octavo/Transforms/Quantize/DotFormatsName.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;

namespace {

using analysis::MeasuredChoice;
using program::Value;
using session::FormatTrials;

std::vector<transforms::DotFormats>
candidatesOf(const std::vector<std::string>& names,
             const std::shared_ptr<const transforms::StaticScales>& calibration) {
  if (names.empty())
    return transforms::inferenceFormats(calibration);
  std::vector<transforms::DotFormats> candidates;
  std::vector<std::string> known;
  for (const std::string& name : names) {
    auto formats = transforms::dotFormatsOf(name, calibration);
    if (!formats)
      raise(ErrorClass::Format, "formats: {}", llvm::toString(formats.takeError()));
    const std::string shortest = transforms::nameOf(*formats);
    if (std::ranges::find(known, shortest) != known.end())
      raise(ErrorClass::Format, "formats: {} is there twice", shortest);
    known.push_back(shortest);
    candidates.push_back(std::move(*formats));
  }
  if (calibration && std::ranges::none_of(candidates, [](const auto& formats) {
        return formats.scales || formats.moved;
      }))
    raise(ErrorClass::Format, "calibration: none of the formats takes it; add +static or +migrated "
                              "to one");
  return candidates;
}

/// The arguments of the program under trial, and its bound weights.
class BoundTrials : public Signature {
public:
  BoundTrials(const FormatTrials& trials, std::vector<std::optional<Value>> bound)
      : trials(trials), values(std::move(bound)) {}

  const std::string& name() const override { return trials.name(); }
  const std::vector<program::Argument>& arguments() const override { return trials.arguments(); }
  const Value* bound(std::size_t argument) const override {
    return values[argument] ? &*values[argument] : nullptr;
  }

private:
  const FormatTrials& trials;
  std::vector<std::optional<Value>> values;
};

/// Calls Python's callables from the search. An exception of a callable ends the search and is
/// thrown again.
class Callables {
public:
  Callables(nb::object metric, nb::object progress)
      : metricOf(std::move(metric)), progressOf(std::move(progress)) {}

  llvm::Expected<double> metric(const FormatTrials& trials, const FormatTrials::Outputs& outputs) {
    const nb::gil_scoped_acquire locked;
    try {
      nb::list sets;
      for (const std::vector<Value>& results : outputs) {
        nb::list arrays;
        for (const Value& value : results)
          arrays.append(arrayOf(value.tensor()));
        sets.append(arrays.size() == 1 ? nb::object(arrays[0]) : nb::object(nb::tuple(arrays)));
      }
      const nb::object value = metricOf(sets);
      const double number = PyFloat_AsDouble(value.ptr());
      if (number == -1 && PyErr_Occurred() != nullptr)
        throw nb::python_error();
      return number;
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
    } catch (const Error& error) {
      return session::failure(error.what());
    }
    return session::failure("the metric of @" + trials.name() + " failed");
  }

  void progress(const session::TuningProgress& step) {
    if (progressOf.is_none() || raised)
      return;
    const nb::gil_scoped_acquire locked;
    try {
      static constexpr std::array kPhases = {"all dots alike", "each dot alone", "budget",
                                             "checks",         "tries",          "front"};
      progressOf(step.isTiming ? "timing" : kPhases[static_cast<std::size_t>(step.step.phase)],
                 step.step.done, step.step.of);
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
    }
  }

  bool hasRaised() const { return raised.has_value(); }
  void rethrow() {
    if (raised)
      throw std::move(*raised);
  }

private:
  static nb::object arrayOf(const numerics::Tensor& tensor) {
    const Array array = emptyOf(tensor.shape, numpyName(program::typeInFiles(tensor.type)));
    std::memcpy(array.data, tensor.bytes.data(), tensor.bytes.size());
    return array.numpy;
  }

  nb::object metricOf, progressOf;
  std::optional<nb::python_error> raised;
};

nb::dict pointOf(const FormatTrials& trials, const session::TuningResult& result,
                 const analysis::Budget& budget, session::TuningCost cost,
                 const MeasuredChoice& choice) {
  nb::list formats;
  for (std::size_t candidate : choice.choice)
    formats.append(pythonText(trials.candidateName(candidate)));
  nb::dict point;
  point["formats"] = nb::tuple(formats);
  point["value"] = analysis::valueOf(budget, choice.loss, result.origin);
  point["bytes"] = trials.weightBytes(choice.choice);
  point["bits_per_weight"] = trials.bitsPerWeight(choice.choice);
  point["seconds"] = cost == session::TuningCost::Time ? nb::object(nb::float_(choice.cost))
                                                       : nb::object(nb::none());
  return point;
}

nb::dict dictOf(const FormatTrials& trials, const session::TuningResult& result,
                const analysis::Budget& budget, session::TuningCost cost) {
  const auto& measured = result.search.measured;
  const auto point = [&](std::size_t at) {
    return pointOf(trials, result, budget, cost, measured[at]);
  };
  const std::size_t chosen = result.search.best.value_or(result.search.leastLoss);
  nb::list uniform, front, dots, failures;
  for (std::size_t at : result.uniform)
    uniform.append(point(at));
  for (std::size_t at : analysis::front(measured))
    front.append(point(at));
  for (const session::TrialDot& dot : trials.dots()) {
    nb::list names;
    for (const transforms::DotRecord& each : dot.dots)
      names.append(pythonText(each.name));
    dots.append(nb::tuple(names));
  }
  for (const auto& [choice, why] : result.failures)
    failures.append(pythonText(why));
  nb::dict facts;
  facts["recipe"] = transforms::recipeText(
      trials.rules(measured[chosen].choice, fmt::format("octavo tune: {}", analysis::text(budget))),
      {});
  facts["is_met"] = result.search.best.has_value();
  facts["dots"] = dots;
  facts["f32"] = point(0);
  facts["chosen"] = point(chosen);
  facts["uniform"] = uniform;
  facts["front"] = front;
  facts["measured"] = measured.size();
  facts["measured_before"] = result.fromState;
  facts["failures"] = failures;
  return facts;
}

nb::dict tune(const nb::bytes& source, bool isPath, const GivenWeights& weights,
              const std::string& function, const std::string& backendName, const nb::callable& sets,
              const std::string& budgetText, const std::vector<std::string>& formats,
              const std::string& costName, const nb::object& metric, const std::string& metricName,
              const std::string& state, const std::string& match, const std::string& exclude,
              const std::string& parameters, std::int64_t minSize, const std::string& calibration,
              bool calibrationIsText, std::optional<std::size_t> tries,
              const nb::object& progress) {
  const auto budget = analysis::parseBudget(budgetText, !metric.is_none());
  if (!budget)
    raise(ErrorClass::Format, "{}", budget.error());
  if (costName != "bytes" && costName != "time")
    raise(ErrorClass::Format, "cost: there is no \"{}\"; there are: bytes, time", costName);
  const session::TuningCost cost =
      costName == "time" ? session::TuningCost::Time : session::TuningCost::Bytes;
  const session::Backend* backend = session::find(backendName);
  if (backend == nullptr)
    raise(ErrorClass::Format, "backend: there is no \"{}\"; there are: {}", backendName,
          fmt::join(session::names(), ", "));
  session::TrialOptions trialOptions{
      .function = function,
      .backend = backend,
      .weights = weightNames(weights),
      .candidates = candidatesOf(formats, staticScales(calibration, calibrationIsText))};
  transforms::DotOptions& dots = trialOptions.dots;
  static_cast<transforms::DotFormats&>(dots) = trialOptions.candidates.front();
  dots.match = match;
  dots.exclude = exclude;
  dots.parameters = parameters;
  dots.minSize = minSize;
  if (llvm::Error error = transforms::checkOptions(dots))
    raise(ErrorClass::Format, "{}", llvm::toString(std::move(error)));

  const std::string program(source.c_str(), source.size());
  using TrialsOrText = tl::expected<std::shared_ptr<FormatTrials>, std::string>;
  const TrialsOrText made = interruptibly(
      [program, isPath, trialOptions = std::move(trialOptions)](const auto&) -> TrialsOrText {
        std::shared_ptr<mlir::MLIRContext> context = session::makeContext();
        auto file = isPath ? session::readProgramFile(program, *context)
                           : session::readProgram(program, "the program", *context);
        if (!file)
          return tl::make_unexpected(llvm::toString(file.takeError()));
        auto trials = FormatTrials::make(context, std::move(*file), trialOptions);
        if (!trials)
          return tl::make_unexpected(llvm::toString(trials.takeError()));
        return std::move(*trials);
      });
  if (!made)
    raise(ErrorClass::Program, "{}", made.error());
  FormatTrials& trials = **made;
  std::vector<std::optional<Value>> bound = namedValues(trials.arguments(), trials.name(), weights);
  for (std::size_t i = 0; i < bound.size(); ++i)
    if (!bound[i])
      bound[i] = trials.arguments()[i].given;
  std::vector<std::vector<Value>> inputs;
  const BoundTrials signature(trials, std::move(bound));
  for (nb::handle set : sets(argumentsOf(signature))) {
    nb::object out;
    inputs.push_back(
        valuesOf(signature, nb::cast<nb::args>(set[0]), nb::cast<nb::kwargs>(set[1]), out));
  }
  trials.setInputs(std::move(inputs));

  Callables callables(metric, progress);
  Signals signals;
  session::TuningOptions options{.budget = *budget, .cost = cost, .tries = tries};
  if (!metric.is_none())
    options.metric = [&](const FormatTrials::Outputs& outputs) {
      return callables.metric(trials, outputs);
    };
  options.metricText = metricName;
  options.state = state;
  options.progress = [&](const session::TuningProgress& step) { callables.progress(step); };
  options.host.isInterrupted = [&] { return callables.hasRaised() || signals.areRaised(); };
  auto result = withoutLock([&] { return session::tuneFormats(*made, options); });
  if (!result) {
    const std::string message = llvm::toString(result.takeError());
    callables.rethrow();
    signals.rethrow();
    raise(classOf(message), "{}", message);
  }
  callables.rethrow();
  signals.rethrow();
  return dictOf(trials, *result, *budget, cost);
}

} // namespace

void addTuning(nb::module_& module) {
  module.def("tune", &tune, DefaultFloats(), nb::arg("program"), nb::arg("is_path"),
             nb::arg("weights"), nb::arg("function"), nb::arg("backend"), nb::arg("sets"),
             nb::arg("budget"), nb::arg("formats"), nb::arg("cost"), nb::arg("metric").none(),
             nb::arg("metric_name"), nb::arg("state"), nb::arg("match"), nb::arg("exclude"),
             nb::arg("parameters"), nb::arg("min_size"), nb::arg("calibration"),
             nb::arg("calibration_is_text"), nb::arg("tries").none(), nb::arg("progress").none());
}

} // namespace octavo::python
