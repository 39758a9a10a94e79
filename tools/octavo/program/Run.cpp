// octavo run: binds weights and inputs to a program and runs it (docs/commands/run.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/program/DotFlags.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunChecks.h"
#include "tools/octavo/program/RunReport.h"

#include "octavo/Backends/Backends.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Runtime/Binding.h"
#include "octavo/Runtime/Outputs.h"
#include "octavo/Runtime/Program.h"
#include "octavo/Runtime/ProgramFile.h"
#include "octavo/Transforms/QuantizeDots.h"
#include "octavo/Transforms/RefineShapes.h"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace octavo::tools {

namespace {

using execution::Value;
using numerics::Tensor;

struct RunOptions {
  std::string program;
  std::string function;
  std::vector<std::string> weights;
  std::vector<std::string> inputs;
  bool ignoresUnused = false;
  std::string backend = "reference";
  DotFlags dots; ///< no format: the program runs as it is
  std::string compare;
  std::string output;
  bool isJson = false;
  unsigned threads = 0;
};

runtime::Sources sourcesOf(const RunOptions& options) {
  runtime::Sources sources;
  sources.weights.assign(options.weights.begin(), options.weights.end());
  for (const std::string& input : options.inputs) {
    // A file whose own name has a '=' is given as ./FILE=... only with its argument's name.
    const std::size_t equals = input.find('=');
    if (equals == std::string::npos)
      sources.inputs.push_back({input});
    else
      sources.inputs.push_back({input.substr(equals + 1), input.substr(0, equals)});
  }
  sources.unused =
      options.ignoresUnused ? runtime::UnusedTensors::Ignore : runtime::UnusedTensors::Refuse;
  return sources;
}

const execution::Backend& backendOf(const RunOptions& options) {
  if (const execution::Backend* backend = backends::find(options.backend))
    return *backend;
  throw CommandError(unknownName("backend", options.backend, backends::names()),
                     ExitCode::BadUsage);
}

/// The outputs of one run of a function, each a plain tensor.
struct Outputs {
  std::vector<std::string> names;
  std::vector<Value> values;

  void add(const std::string& name, const Value& value) {
    if (value.isTuple()) {
      for (std::size_t i = 0; i < value.elements().size(); ++i)
        add(fmt::format("{}.{}", name, i), value.elements()[i]);
      return;
    }
    names.push_back(name);
    if (value.isTensor()) {
      values.push_back(value);
      return;
    }
    const std::vector<float> dequantized = numerics::dequantize(value.scaled());
    Tensor tensor = Tensor::zeros(format::element("f32"), value.scaled().shape);
    std::copy(dequantized.begin(), dequantized.end(), tensor.as<float>().begin());
    values.emplace_back(std::move(tensor));
  }
};

struct Run {
  Outputs outputs;
  WeightSizes weights;
  RunTimes times;
  execution::CheckReport checks;
};

/// The argument that says which platform of jax.export's container the program runs on is this
/// machine's, as JAX names it.
void choosePlatform(std::vector<runtime::Argument>& arguments,
                    const std::optional<runtime::JaxExport>& container) {
  if (!container)
    return;
  const std::vector<std::string>& platforms = container->platforms();
  const auto cpu = std::find(platforms.begin(), platforms.end(), "cpu");
  if (cpu == platforms.end())
    return;
  for (runtime::Argument& argument : arguments)
    if (argument.isOfPlatform) {
      Tensor index = Tensor::zeros(numerics::IntegerType{32, false}, {});
      index.setCode(0, static_cast<std::uint64_t>(cpu - platforms.begin()));
      argument.given = Value(std::move(index));
    }
}

/// Makes the extents known that the program leaves open, by the values that it is given.
void refineShapes(mlir::func::FuncOp function, const std::vector<Value>& values,
                  const std::string& program) {
  std::vector<mlir::Type> types(function.getArgumentTypes().begin(),
                                function.getArgumentTypes().end());
  if (std::none_of(types.begin(), types.end(), transforms::hasUnknownExtents))
    return;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (transforms::hasUnknownExtents(types[i]))
      types[i] = mlir::RankedTensorType::get(
          values[i].tensor().shape, mlir::cast<mlir::RankedTensorType>(types[i]).getElementType());
  const Diagnostics diagnostics(*function.getContext());
  if (failed(transforms::refineShapes(function, types)))
    throw CommandError(program + ": " + diagnostics.found(), ExitCode::BadInput);
}

Run runFunction(mlir::func::FuncOp function, const std::optional<runtime::JaxExport>& container,
                const RunOptions& options) {
  Run run;
  const std::string name = function.getName().str();
  std::vector<runtime::Argument> arguments =
      orThrow(runtime::argumentsOf(function), options.program);
  choosePlatform(arguments, container);
  std::vector<Value> values;
  {
    const ElapsedTime time("binding weights and inputs");
    values = orThrow(runtime::bindArguments(arguments, sourcesOf(options), "@" + name));
    run.weights = weightSizes(arguments, values);
    run.times.bind = time.seconds();
  }
  refineShapes(function, values, options.program);
  const ElapsedTime time(fmt::format("evaluating @{}", name));
  const auto executable =
      orThrow(backendOf(options).prepare(function->getParentOfType<mlir::ModuleOp>(), name));
  const std::vector<Value> results = orThrow(executable->run(std::move(values), &run.checks));
  run.times.evaluate = time.seconds();
  const std::vector<std::string> names = runtime::resultNames(function);
  for (std::size_t i = 0; i < results.size(); ++i)
    run.outputs.add(names[i], results[i]);
  return run;
}

/// Checks that a function with arguments met.
void reportFailures(const execution::CheckReport& checks) {
  if (checks.failures.empty())
    return;
  std::string message = fmt::format("{} of {} checks failed:", checks.failures.size(),
                                    checks.failures.size() + checks.held);
  for (const execution::CheckFailure& failure : checks.failures)
    message += "\n  " + failure.message();
  throw CommandError(message, ExitCode::CheckFailed);
}

void compareOutputs(const Outputs& reference, RunReport& report) {
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const Tensor& expected = reference.values[i].tensor();
    if (expected.shape != report.outputs[i].tensor->shape)
      throw CommandError(fmt::format("output {} differs in shape from f32: {} and {}",
                                     report.outputs[i].name,
                                     runtime::describe(report.outputs[i].tensor->type,
                                                       report.outputs[i].tensor->shape),
                                     runtime::describe(expected.type, expected.shape)),
                         ExitCode::BadInput);
    report.outputs[i].comparison = runtime::compare(expected, *report.outputs[i].tensor);
  }
}

QuantizationReport quantizeProgram(mlir::ModuleOp program, const RunOptions& options) {
  const transforms::DotOptions dots = dotOptions(options.dots);
  const ElapsedTime time("quantizing dots");
  const transforms::DotReport report =
      orThrow(transforms::quantizeDots(program, dots), options.program);
  return {.format = std::string(dots.weights->name),
          .activations = dots.activations ? std::string(dots.activations->name) : "",
          .rule = std::string(format::scaleRuleName(dots.rule.value_or(dots.weights->rule))),
          .dotsQuantized = report.quantized(),
          .dots = static_cast<std::int64_t>(report.dots.size()),
          .seconds = time.seconds()};
}

void checkUsage(const RunOptions& options) {
  backendOf(options);
  if (!options.compare.empty() && options.compare != "f32")
    throw CommandError(unknownName("program to compare with", options.compare, {"f32"}),
                       ExitCode::BadUsage);
  if (!options.compare.empty() && options.dots.format.empty())
    throw CommandError("--compare f32 needs --quantize FORMAT: it compares a quantized run with "
                       "the program as it is",
                       ExitCode::BadUsage);
  if (!options.dots.format.empty())
    dotOptions(options.dots);
}

void runProgram(const RunOptions& options) {
  checkUsage(options);
  std::optional<tbb::global_control> limit;
  if (options.threads > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism, options.threads);

  const std::unique_ptr<mlir::MLIRContext> context = runtime::makeContext();
  runtime::ProgramFile file = orThrow(runtime::readProgramFile(options.program, *context));
  mlir::ModuleOp program = *file.program;
  mlir::OwningOpRef<mlir::ModuleOp> original;
  if (!options.compare.empty())
    original = program.clone();
  std::optional<QuantizationReport> quantization;
  if (!options.dots.format.empty())
    quantization = quantizeProgram(program, options);

  if (options.function.empty() && !runtime::selfChecks(program).empty()) {
    runChecks(program, options.program, backendOf(options),
              options.isJson ? ReportFormat::Json : ReportFormat::Text);
    return;
  }
  auto function = orThrow(runtime::findFunction(program, options.function), options.program);
  const Run run = runFunction(function, file.container, options);
  RunReport report{.program = options.program,
                   .function = function.getName().str(),
                   .backend = options.backend,
                   .quantization = quantization,
                   .weights = run.weights,
                   .times = run.times,
                   .comparedTimes = std::nullopt,
                   .outputs = {}};
  for (std::size_t i = 0; i < run.outputs.names.size(); ++i)
    report.outputs.push_back({run.outputs.names[i], &run.outputs.values[i].tensor(), {}});

  if (!options.output.empty()) {
    std::vector<runtime::NamedOutput> named;
    for (const OutputReport& output : report.outputs)
      named.push_back({output.name, output.tensor});
    if (llvm::Error error = runtime::writeOutputs(options.output, named))
      throw CommandError(llvm::toString(std::move(error)), ExitCode::BadInput);
  }
  if (original) {
    const Run f32 = runFunction(orThrow(runtime::findFunction(*original, options.function)),
                                file.container, options);
    compareOutputs(f32.outputs, report);
    report.comparedTimes = f32.times;
  }
  printText(options.isJson ? json(report) : text(report));
  reportFailures(run.checks);
}

} // namespace

void addRunCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "Run a program on weights and inputs, and compare the results");
  auto options = std::make_shared<RunOptions>();
  command->add_option("PROGRAM", options->program, "StableHLO as MLIR text")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--weights", options->weights,
                   "Tensors for the arguments of the same names; may be repeated")
      ->type_name("FILE.safetensors")
      ->allow_extra_args(false);
  command
      ->add_option("--input", options->inputs,
                   "An array for the named argument, or for the next one that is not a weight; or "
                   "tensors by name. May be repeated")
      ->type_name("NAME=FILE.npy|FILE.npy|FILE.safetensors")
      ->allow_extra_args(false);
  command->add_flag("--ignore-unused", options->ignoresUnused,
                    "Ignore tensors that no argument uses");
  command->add_option("--function", options->function, "Function to run instead of @main")
      ->type_name("NAME");
  CLI::Option* quantize =
      command
          ->add_option("--quantize", options->dots.format,
                       "Quantize the program's dots first, the weights in this scaled format")
          ->type_name("FORMAT");
  command
      ->add_option("--compare", options->compare,
                   "Run the program without quantization too, and compare")
      ->type_name("f32");
  command->add_option("--output", options->output, "Write the outputs")
      ->type_name("FILE.safetensors|FILE.npy|FOLDER");
  command->add_option("--backend", options->backend, "What evaluates the program")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--json", options->isJson, "Print JSON");
  command->add_option("--threads", options->threads, "Use at most this many threads")
      ->type_name("N");
  const std::vector<CLI::Option*> before = command->get_options();
  addDotFlags(*command, options->dots);
  for (CLI::Option* option : command->get_options())
    if (std::find(before.begin(), before.end(), option) == before.end())
      option->needs(quantize);
  command->footer(R"(Examples:
  octavo run model.mlir --weights model.safetensors --input ids=ids.npy --output out.npy
  octavo run model.mlir --weights model.safetensors --input ids.npy --quantize mxfp4 --compare f32
  octavo run test.mlir            a program that checks itself: exits 0 when every check held)");
  command->callback([options] { runProgram(*options); });
}

} // namespace octavo::tools
