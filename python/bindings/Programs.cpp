// The extension module octavo._programs: compiles programs and calls them. It is separate from
// octavo._core because it needs MLIR.
#include "python/bindings/Array.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Interruptible.h"
#include "python/bindings/Options.h"
#include "python/bindings/ProgramCall.h"
#include "python/bindings/ProgramValues.h"
#include "python/bindings/ProgramWeights.h"
#include "python/bindings/ScaledTensor.h"
#include "python/bindings/Tuning.h"

#include "octavo/Analysis/Calibration.h"
#include "octavo/Base/Loops.h"
#include "octavo/Base/NearNames.h"
#include "octavo/Base/Threads.h"
#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/CallableProgram.h"
#include "octavo/Session/Trials/DotErrorsJson.h"
#include "octavo/Session/Trials/RangeRecorder.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <algorithm>
#include <functional>

namespace octavo::python {

namespace nb = nanobind;

namespace {

using program::Value;
using session::CallableProgram;

template <typename T> T orRaise(tl::expected<T, std::string> result) {
  if (!result)
    raise(classOf(result.error()), "{}", result.error());
  return std::move(*result);
}

/// A compiled program during a call from Python.
class CompiledCall : public CalledProgram {
public:
  explicit CompiledCall(CallableProgram& program, program::Probes* probes = nullptr)
      : program(program), probes(probes) {}

  const std::string& name() const override { return program.name(); }
  const std::vector<program::Argument>& arguments() const override { return program.arguments(); }
  const Value* bound(std::size_t argument) const override {
    return program.isBound(argument) ? &program.value(argument) : nullptr;
  }
  bool isDonated(std::size_t argument, std::size_t result) const override {
    return program.isDonated(argument, result);
  }
  tl::expected<std::vector<program::Result>, Refusal>
  prepare(std::span<const Value> values) override {
    auto made = prepareInterruptibly(values);
    if (!made)
      return tl::make_unexpected(std::move(made.error()));
    prepared = std::move(*made);
    return prepared.results;
  }
  tl::expected<void, std::string> run(std::vector<Value> values, const program::RunContext& host,
                                      program::ResultMemory memory) override {
    program::RunContext probed = host;
    probed.probes = probes;
    if (auto given = program.call(prepared, std::move(values), probed, memory); !given)
      return tl::make_unexpected(llvm::toString(given.takeError()));
    return {};
  }

private:
  using PreparedOrRefusal = tl::expected<CallableProgram::Prepared, Refusal>;

  static PreparedOrRefusal preparedFor(CallableProgram& program, const session::Shapes& shapes) {
    auto made = program.prepare(shapes);
    if (made)
      return std::move(*made);
    const bool isOfShapes = made.errorIsA<session::RefusedShapes>();
    return tl::make_unexpected(Refusal{isOfShapes ? ErrorClass::Shape : ErrorClass::Program,
                                       llvm::toString(made.takeError())});
  }
  /// Ctrl-C does not wait for a compilation, here or in another thread.
  PreparedOrRefusal prepareInterruptibly(std::span<const Value> values) {
    session::Shapes shapes = program.shapesOf(values);
    if (auto kept = program.kept(shapes))
      return std::move(*kept);
    return interruptibly([shared = program.shared_from_this(), shapes = std::move(shapes)](
                             const auto&) { return preparedFor(*shared, shapes); });
  }

  CallableProgram& program;
  program::Probes* probes;
  CallableProgram::Prepared prepared;
};

nb::object callProbed(CallableProgram& program, program::Probes* probes, const nb::args& positional,
                      const nb::kwargs& named) {
  CompiledCall compiled(program, probes);
  return call(compiled, positional, named);
}

nb::object callCompiled(CallableProgram& program, const nb::args& positional,
                        const nb::kwargs& named) {
  return callProbed(program, nullptr, positional, named);
}

transforms::DotOptions dotOptions(nb::handle weights, const std::string& recipe, bool isText,
                                  nb::handle activations, const std::string& rule,
                                  const std::string& nonFiniteName, const std::string& preset,
                                  const std::string& match, const std::string& exclude,
                                  const std::string& parameters, std::int64_t minSize,
                                  bool bothActivations, const std::string& calibration,
                                  bool calibrationIsText, const std::string& range) {
  transforms::DotOptions options;
  options.scales = staticScales(calibration, calibrationIsText);
  if (!range.empty()) {
    const auto choice = analysis::findRangeChoice(range);
    if (!choice)
      raise(ErrorClass::Format, "range: no range \"{}\"; available: {} (above 0, at most 100)",
            range, analysis::kRangeSpellings);
    options.range = *choice;
  }
  if (weights.is_none()) {
    auto read = isText ? transforms::parseRecipe(recipe, "recipe") : transforms::readRecipe(recipe);
    if (!read)
      raise(ErrorClass::Format, "{}", llvm::toString(read.takeError()));
    static_cast<transforms::Recipe&>(options) = std::move(*read);
  } else {
    options.weights = &scaledFormat(weights, "quantize");
  }
  const bool isNone =
      nb::isinstance<nb::str>(activations) && nb::cast<std::string>(activations) == "none";
  if (options.weights && activations.is_none())
    options.activations = transforms::defaultActivations(*options.weights);
  else if (!activations.is_none() && !isNone)
    options.activations = &scaledFormat(activations, "activations", {"none"});
  if (!rule.empty())
    options.rule = scaleRule(rule);
  if (!nonFiniteName.empty())
    options.nonFinite = nonFinite(nonFiniteName);
  options.preset = preset;
  options.match = match;
  options.exclude = exclude;
  options.parameters = parameters;
  options.minSize = minSize;
  options.activationPairs =
      bothActivations ? transforms::ActivationPairs::Quantize : transforms::ActivationPairs::Leave;
  if (llvm::Error error = transforms::checkOptions(options))
    raise(ErrorClass::Format, "{}", llvm::toString(std::move(error)));
  return options;
}

void bindWeights(CallableProgram& program, const GivenWeights& weights) {
  for (const auto& [i, given] : namedArrays(program.arguments(), program.name(), weights)) {
    raiseSignals();
    program.bind(i, boundValue(program.arguments()[i], program.name(), given));
  }
  if (weights.files.empty())
    return;
  orRaise(interruptibly([shared = program.shared_from_this(), sources = sourcesOf(weights)](
                            const auto&) -> tl::expected<bool, std::string> {
    if (llvm::Error error = shared->bindFiles(sources))
      return tl::make_unexpected(llvm::toString(std::move(error)));
    return true;
  }));
}

std::shared_ptr<CallableProgram>
compileWith(const nb::bytes& source, bool isPath, const GivenWeights& given,
            const std::string& function, const std::string& backendName, bool recoversScaled,
            bool dropsScales, std::optional<transforms::DotOptions> dots,
            std::optional<transforms::CalibrationProbeOptions> probes) {
  const std::string program(source.c_str(), source.size());
  const session::Backend* backend = session::find(backendName);
  if (backend == nullptr)
    raise(ErrorClass::Format, "backend: there is no \"{}\"; there are: {}", backendName,
          fmt::join(session::names(), ", "));
  session::PreparationOptions options{.function = function,
                                      .weights = weightNames(given),
                                      .recoversScaled = recoversScaled,
                                      .dots = std::move(dots),
                                      .dropsScales = dropsScales,
                                      .probes = std::move(probes)};
  auto made = interruptibly([program, isPath, backend, options = std::move(options)](const auto&) {
    auto context = session::makeContext();
    auto file = isPath ? session::readProgramFile(program, *context)
                       : session::readProgram(program, "the program", *context);
    if (!file)
      return expectedOf<std::unique_ptr<CallableProgram>>(file.takeError());
    return expectedOf(
        CallableProgram::make(std::move(context), std::move(*file), *backend, options));
  });
  const std::shared_ptr<CallableProgram> callable = orRaise(std::move(made));
  bindWeights(*callable, given);
  return callable;
}

std::shared_ptr<CallableProgram> compile(const nb::bytes& source, bool isPath,
                                         const GivenWeights& weights, const std::string& function,
                                         const std::string& backendName, bool recoversScaled,
                                         bool dropsScales,
                                         std::optional<transforms::DotOptions> dots) {
  return compileWith(source, isPath, weights, function, backendName, recoversScaled, dropsScales,
                     std::move(dots), std::nullopt);
}

/// octavo._programs.Calibrator: runs a program and records the ranges of its dots' operands.
class Calibrator {
public:
  Calibrator(const nb::bytes& source, bool isPath, const GivenWeights& weights,
             const std::string& function, const std::string& backend, const std::string& parameters,
             bool hasColumns)
      : program(compileWith(source, isPath, weights, function, backend, false, false, std::nullopt,
                            transforms::CalibrationProbeOptions{parameters, hasColumns})),
        recorder(program->probed(), hasColumns ? session::RangeRecorder::Columns::Record
                                               : session::RangeRecorder::Columns::Leave) {}

  nb::list arguments() const { return argumentsOf(CompiledCall(*program)); }

  void run(const nb::args& positional, const nb::kwargs& named) {
    callProbed(*program, &recorder, positional, named);
    withoutLock([&] { recorder.endRun(); });
  }

  nb::str text() const {
    return pythonText(
        withoutLock([&] { return analysis::calibrationText(recorder.calibration()); }));
  }

private:
  std::shared_ptr<CallableProgram> program;
  session::RangeRecorder recorder;
};

/// A list with a tuple for each named recipe: name, summary, text.
nb::list recipes() {
  nb::list list;
  for (const transforms::NamedRecipe& recipe : transforms::kRecipes)
    list.append(nb::make_tuple(pythonText(recipe.name), pythonText(recipe.summary),
                               pythonText(recipe.text)));
  return list;
}

void checkRecipe(const std::string& text) {
  if (auto recipe = transforms::parseRecipe(text, "recipe"); !recipe)
    raise(ErrorClass::Format, "{}", llvm::toString(recipe.takeError()));
}

/// A list with a tuple for each dot: name, sizes, whether it is quantized, the formats of its
/// operands or None, and the reason.
nb::list dotsOf(const CallableProgram& program) {
  nb::list list;
  if (!program.dots())
    return list;
  const auto name = [](const format::ScaledFormat* row) {
    return row == nullptr ? nb::object(nb::none()) : nb::object(pythonText(row->name));
  };
  for (const transforms::DotRecord& dot : program.dots()->dots)
    list.append(nb::make_tuple(pythonText(dot.name), dot.sizes(), dot.isQuantized, name(dot.lhs),
                               name(dot.rhs), pythonText(dot.reason)));
  return list;
}

/// A list with a tuple for each product that is not a dot: name, and why it is not one.
nb::list othersOf(const CallableProgram& program) {
  nb::list list;
  if (program.dots())
    for (const transforms::OtherProduct& other : program.dots()->others)
      list.append(nb::make_tuple(pythonText(other.name), pythonText(other.reason)));
  return list;
}

/// The errors of the dots as JSON: the value of `per_op` in docs/commands/run.md.
std::string dotErrors(CallableProgram& program, const transforms::DotOptions& dots,
                      const nb::args& positional, const nb::kwargs& named) {
  nb::object out = nb::none();
  std::vector<Value> values = valuesOf(CompiledCall(program), positional, named, out);
  if (!out.is_none())
    raise(ErrorClass::Program, "dot_errors gives figures and no results: leave out= out");
  return orRaise(interruptibly([shared = program.shared_from_this(), dots,
                                values = std::move(values),
                                threads = threadLimit()](const std::atomic<bool>& isDetached) {
    session::DotErrorOptions options{.dots = dots, .host = {}, .onRun = {}};
    options.host.isInterrupted = [&] { return isDetached.load(); };
    tl::expected<std::string, std::string> text;
    const auto work = [&] {
      text =
          expectedOf(shared->dotErrors(values, options)).map([](const session::DotErrors& errors) {
            return session::json(errors).dump(-1, ' ', false,
                                              nlohmann::ordered_json::error_handler_t::replace);
          });
    };
    if (threads > 0)
      base::withThreads(base::usefulThreads(threads), work);
    else
      work();
    return text;
  }));
}

nb::list missedOf(const CallableProgram& program) {
  nb::list list;
  for (const transforms::MissedDots& missed : program.missed())
    list.append(pythonText(missed.text()));
  return list;
}

nb::list warningsOf(const CallableProgram& program) {
  nb::list list;
  for (const std::string& line : program.warnings())
    list.append(pythonText(line));
  return list;
}

/// The output of `octavo explain --json` (docs/commands/explain.md) without the program's name.
std::string dotWidths(CallableProgram& program) {
  const auto widths = orRaise(interruptibly([shared = program.shared_from_this()](const auto&) {
    return expectedOf(shared->dotWidths());
  }));
  return session::json(widths).dump(-1, ' ', false,
                                    nlohmann::ordered_json::error_handler_t::replace);
}

nb::dict explain(CallableProgram& program) {
  // This may compile, or wait for another thread that compiles, so Python's lock is released.
  struct Explained {
    program::Explanation explanation;
    std::string openExtents;
  };
  const Explained explained =
      orRaise(interruptibly([shared = program.shared_from_this()](const auto&) {
        return expectedOf(shared->explain()).map([&](program::Explanation&& explanation) {
          return Explained{std::move(explanation), shared->openExtents()};
        });
      }));
  const program::Explanation& explanation = explained.explanation;
  nb::list products, interpreted;
  for (const auto& [what, count] : explanation.products)
    products.append(nb::make_tuple(pythonText(what), count));
  for (const auto& [operation, location, reason] : explanation.interpreted)
    interpreted.append(
        nb::make_tuple(pythonText(operation), pythonText(location), pythonText(reason)));
  nb::dict facts;
  facts["interpreted_whole"] = pythonText(explanation.interpretedWhole);
  facts["open_extents"] = pythonText(explained.openExtents);
  facts["operations"] = explanation.operations;
  facts["kernels"] = explanation.kernels.distinct;
  facts["products"] = products;
  facts["interpreted"] = interpreted;
  facts["arena_bytes"] = explanation.arenaBytes;
  facts["constant_bytes"] = explanation.constantBytes;
  facts["dropped_scales"] = program.dropped() ? nb::cast(program.dropped()->dropped()) : nb::none();
  return facts;
}

} // namespace

} // namespace octavo::python

NB_MODULE(_programs, module) {
  using namespace octavo::python;
  nanobind::set_leak_warnings(false);
  nanobind::module_::import_("octavo._core"); // defines ScaledTensor
  registerErrors();
  nanobind::class_<octavo::transforms::DotOptions>(module, "DotOptions")
      .def(
          "__init__",
          [](octavo::transforms::DotOptions* self, nanobind::handle weights,
             const std::string& recipe, bool isText, nanobind::handle activations,
             const std::string& rule, const std::string& nonFinite, const std::string& preset,
             const std::string& match, const std::string& exclude, const std::string& parameters,
             std::int64_t minSize, bool bothActivations, const std::string& calibration,
             bool calibrationIsText, const std::string& range) {
            new (self) octavo::transforms::DotOptions(dotOptions(
                weights, recipe, isText, activations, rule, nonFinite, preset, match, exclude,
                parameters, minSize, bothActivations, calibration, calibrationIsText, range));
          },
          DefaultFloats(), nanobind::arg("weights").none(), nanobind::arg("recipe") = "",
          nanobind::arg("recipe_is_text") = false,
          nanobind::arg("activations").none() = nanobind::none(), nanobind::arg("rule") = "",
          nanobind::arg("non_finite") = "", nanobind::arg("preset") = "",
          nanobind::arg("match") = "", nanobind::arg("exclude") = "",
          nanobind::arg("parameters") = "", nanobind::arg("min_size") = 0,
          nanobind::arg("both_activations") = false, nanobind::arg("calibration") = "",
          nanobind::arg("calibration_is_text") = false, nanobind::arg("range") = "");
  nanobind::class_<octavo::python::GivenWeights>(module, "Weights")
      .def(
          "__init__",
          [](octavo::python::GivenWeights* self, const nanobind::list& files,
             const nanobind::dict& arrays, const nanobind::set& leftOut, bool ignoresUnused) {
            new (self) octavo::python::GivenWeights(
                octavo::python::givenWeights(files, arrays, leftOut, ignoresUnused));
          },
          DefaultFloats(), nanobind::arg("files"), nanobind::arg("arrays"),
          nanobind::arg("left_out"), nanobind::arg("ignore_unused"));
  nanobind::class_<octavo::session::CallableProgram>(module, "Program")
      .def("__call__", &callCompiled, DefaultFloats())
      .def_prop_ro("function",
                   [](const octavo::session::CallableProgram& self) { return self.name(); })
      .def_prop_ro("arguments",
                   [](CallableProgram& self) { return argumentsOf(CompiledCall(self)); })
      .def_prop_ro("results", [](const CallableProgram& self) { return resultsOf(self.results()); })
      .def_prop_ro("dots", &dotsOf)
      .def_prop_ro("others", &othersOf)
      .def_prop_ro("missed", &missedOf)
      .def_prop_ro("warnings", &warningsOf)
      .def("dot_errors", &dotErrors, DefaultFloats())
      .def("dot_widths", &dotWidths, DefaultFloats())
      .def("explain", &explain, DefaultFloats());
  nanobind::class_<Calibrator>(module, "Calibrator")
      .def(nanobind::init<const nanobind::bytes&, bool, const GivenWeights&, const std::string&,
                          const std::string&, const std::string&, bool>(),
           DefaultFloats(), nanobind::arg("program"), nanobind::arg("is_path"),
           nanobind::arg("weights"), nanobind::arg("function"), nanobind::arg("backend"),
           nanobind::arg("parameters"), nanobind::arg("columns"))
      .def_prop_ro("arguments", &Calibrator::arguments)
      .def("run", &Calibrator::run, DefaultFloats())
      .def("text", &Calibrator::text, DefaultFloats());
  module.def("recipes", &recipes, DefaultFloats());
  module.def("check_recipe", &checkRecipe, DefaultFloats(), nanobind::arg("text"));
  module.def("compile", &compile, DefaultFloats(), nanobind::arg("program"),
             nanobind::arg("is_path"), nanobind::arg("weights"), nanobind::arg("function"),
             nanobind::arg("backend"), nanobind::arg("recover_scaled"),
             nanobind::arg("drop_scales"), nanobind::arg("dots").none());
  addTuning(module);
}
