// octavo run: binds weights and inputs to a program and runs it (docs/commands/run.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/StatusLine.h"
#include "tools/octavo/Threads.h"
#include "tools/octavo/program/MissedWarnings.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunChecks.h"
#include "tools/octavo/program/RunDots.h"
#include "tools/octavo/program/RunExplanation.h"
#include "tools/octavo/program/RunFolder.h"
#include "tools/octavo/program/RunFunction.h"
#include "tools/octavo/program/RunInterruption.h"
#include "tools/octavo/program/RunReport.h"
#include "tools/octavo/program/TextFile.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Outputs.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Session/OpenExtents.h"
#include "octavo/Session/Preparation.h"
#include "octavo/Session/Trials/Bisect.h"
#include "octavo/Session/Trials/DotErrors.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Recover/DropScales.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

namespace octavo::tools {

namespace {

using numerics::Tensor;
using program::Value;

/// Explains how a function would run. Its arguments are read only if their extents matter.
ExplainedFunction explainFunction(mlir::func::FuncOp function, const RunOptions& options) {
  const std::string name = function.getName().str();
  const session::Backend& backend = backendOf(options);
  if (session::hasOpenExtents(function)) {
    const auto arguments = orThrow(session::argumentsOf(function), options.program);
    closeExtents(function, bindProcesses(arguments, options, "@" + name, 1), options.program);
  }
  warnOfProgram(function->getParentOfType<mlir::ModuleOp>(), name, options.program,
                options.failsOnMissed);
  const ElapsedTime preparing("preparing the program");
  const auto executable =
      orThrow(backend.prepare(function->getParentOfType<mlir::ModuleOp>(), name));
  if (!options.dump.empty())
    dumpStages(*executable, options);
  return {name, executable->explain()};
}

void explainProgram(mlir::ModuleOp program, const std::optional<DropCounts>& drops,
                    const RunOptions& options) {
  std::vector<ExplainedFunction> functions;
  std::vector<mlir::func::FuncOp> checks =
      options.function.empty() ? session::selfChecks(program) : std::vector<mlir::func::FuncOp>();
  if (checks.empty())
    checks.push_back(orThrow(session::findFunction(program, options.function), options.program));
  for (mlir::func::FuncOp function : checks)
    functions.push_back(explainFunction(function, options));
  printText(options.isJson ? explanationJson(options.program, options.backend, drops, functions)
                           : explanationText(options.program, drops, functions));
}

/// Prints the failed checks of a function with arguments.
void reportFailures(const program::CheckReport& checks) {
  if (checks.failures.empty())
    return;
  std::string message = fmt::format("{} of {} checks failed:", checks.failures.size(),
                                    checks.failures.size() + checks.held);
  for (const program::CheckFailure& failure : checks.failures)
    message += "\n  " + failure.message();
  throw CommandError(message, ExitCode::CheckFailed);
}

constexpr std::string_view kReference = "reference";

void compareOutputs(const Outputs& reference, RunReport& report) {
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const Tensor& expected = reference.values[i].tensor();
    if (expected.shape != report.outputs[i].tensor->shape)
      throw CommandError(fmt::format("output {} differs in shape from {}: {} and {}",
                                     report.outputs[i].name, report.comparedWith,
                                     program::describe(report.outputs[i].tensor->type,
                                                       report.outputs[i].tensor->shape),
                                     program::describe(expected.type, expected.shape)),
                         ExitCode::BadInput);
    report.outputs[i].comparison = program::compare(expected, *report.outputs[i].tensor);
    if (report.comparedWith == kReference)
      report.outputs[i].ulps = program::ulpDistance(expected, *report.outputs[i].tensor);
  }
}

/// Finds the first operation that the backend computes differently, by more than `bound` ulp.
std::string bisect(mlir::func::FuncOp function, const RunOptions& options, double bound) {
  const auto arguments = orThrow(session::argumentsOf(function), options.program);
  const std::string name = "@" + function.getName().str();
  program::CheckReport checks;
  const std::unique_ptr<session::ProbeFolder> probes = probeFolderOf(options);
  program::RunContext host = hostOf(options, probes.get(), 1);
  host.checks = &checks;
  const ElapsedTime time("comparing operation by operation");
  const RunInterruption interruption(host);
  const auto distance = [](const Value& expected, const Value& found) {
    Outputs pair;
    pair.add("expected", 0, expected);
    pair.add("found", 0, found);
    double largest = 0;
    for (std::size_t i = 0, count = pair.values.size() / 2; i < count; ++i)
      largest = std::max(
          largest,
          program::ulpDistance(pair.values[i].tensor(), pair.values[count + i].tensor()).largest);
    return largest;
  };
  auto found = session::firstDeviation(
      function, bindProcesses(arguments, options, name, 1), backendOf(options), host,
      [&](const Value& expected, const Value& given) {
        return expected.isToken() || distance(expected, given) <= bound;
      });
  if (!found)
    throw CommandError(llvm::toString(found.takeError()), evaluationFailed());
  if (!*found)
    return fmt::format("bisect     no operation by itself is beyond {} ulp\n", bound);
  const session::Deviation& first = **found;
  return fmt::format("bisect     {}: '{}' is the first beyond {} ulp: {} ulp\n", first.location,
                     first.operation, bound, distance(first.expected, first.found));
}

/// Finds which dots cause the difference from the unchanged program.
session::DotErrors findDotErrors(mlir::func::FuncOp unchanged,
                                 const std::optional<session::JaxExport>& container,
                                 const RunOptions& options) {
  std::vector<program::Argument> arguments =
      orThrow(session::argumentsOf(unchanged), options.program);
  session::choosePlatform(arguments, container);
  const std::vector<Value> values =
      bindProcesses(arguments, options, "@" + unchanged.getName().str(), 1);
  std::atomic<std::size_t> run = 0, runs = 0;
  const StatusLine status([&](double seconds) {
    const std::size_t done = run, all = runs;
    const double left = seconds * static_cast<double>(all - done) / static_cast<double>(done + 1);
    return fmt::format("errors by dot, run {} of {}, {:.0f} s left", done + 1, all, left);
  });
  session::DotErrorOptions settings{.dots = dotOptions(options.dots),
                                    .backend = &backendOf(options),
                                    .host = hostOf(options, nullptr, 1),
                                    .onRun = [&](std::size_t next, std::size_t all) {
                                      runs = all;
                                      run = next;
                                    }};
  settings.host.print = nullptr;
  const RunInterruption interruption(settings.host);
  auto errors = session::dotErrors(unchanged, values, settings);
  if (!errors)
    throw CommandError(fmt::format("--per-op: {}", llvm::toString(errors.takeError())),
                       evaluationFailed());
  return std::move(*errors);
}

std::string pageOf(const RunReport& report) {
  const QuantizationReport& quantization = *report.quantization;
  return dotsPage(
      *report.dotErrors,
      {.program = std::filesystem::path(report.program).filename().string(),
       .quantization =
           quantization.recipe.empty()
               ? fmt::format("Weights in {}, activations {}", quantization.format,
                             quantization.activations.empty() ? "as they are"
                                                              : "in " + quantization.activations)
               : fmt::format("Quantized by the recipe {}", quantization.recipe)});
}

/// Throws CommandError if an output is farther from the reference than --bound allows.
void holdToBound(const RunReport& report, double bound) {
  for (const OutputReport& output : report.outputs)
    if (output.ulps && output.ulps->largest > bound)
      throw CommandError(fmt::format("output {} is {} ulp from the reference; --bound is {}",
                                     output.name, output.ulps->largest, bound),
                         ExitCode::CheckFailed);
}

QuantizationReport reportOf(const transforms::DotReport& report, double seconds,
                            const transforms::DotOptions& dots, const RunOptions& options) {
  if (options.compare == "f32" && report.hasState())
    throw CommandError("caches as codes, scales of earlier steps and random numbers make the "
                       "program one of other arguments and results, and --compare f32 runs both on "
                       "the same files; --compare reference runs it on the interpreter",
                       ExitCode::BadUsage);
  return {.recipe = options.dots.recipe,
          .format = dots.weights ? std::string(dots.weights->name) : "",
          .activations = dots.activations ? std::string(dots.activations->name) : "",
          .rule = dots.weights
                      ? std::string(format::scaleRuleName(dots.rule.value_or(dots.weights->rule)))
                      : "",
          .dotsQuantized = report.quantized(),
          .whyLeft = report.quantized() == 0 ? report.whyLeft() : "",
          .dots = static_cast<std::int64_t>(report.dots.size()),
          .others = static_cast<std::int64_t>(report.others.size()),
          .seconds = seconds,
          .hasState = report.hasState()};
}

/// Marks arguments that --weights gives as weights, even if the program does not.
void markWeights(mlir::ModuleOp program, const RunOptions& options) {
  std::vector<std::string> files;
  for (const std::string& each : options.weights)
    files.push_back(pathOf(each, 0));
  const std::vector<std::string> names = orThrow(session::tensorNames(files));
  if (names.empty())
    return;
  if (llvm::Error error = session::markParameters(
          orThrow(session::findFunction(program, options.function), options.program), names))
    throw CommandError(options.program + ": " + llvm::toString(std::move(error)),
                       ExitCode::BadInput);
}

RecoveryReport reportOf(const transforms::RecoverReport& report, double seconds) {
  return {.narrow = report.count(transforms::DotWidth::Narrow),
          .missed = report.count(transforms::DotWidth::Missed),
          .seconds = seconds};
}

DropCounts countsOf(const transforms::DropReport& report) {
  return {.dropped = report.dropped(),
          .kept = static_cast<std::int64_t>(report.quantizations.size()) - report.dropped()};
}

bool isQuantized(const RunOptions& options) {
  return !options.dots.format.empty() || !options.dots.recipe.empty();
}

/// Whether the options change the program.
bool isChanged(const RunOptions& options) {
  return isQuantized(options) || options.recovers || options.dropsScales;
}

bool isFolder(const RunOptions& options) {
  std::error_code none;
  return std::filesystem::is_directory(options.program, none);
}

void checkUsage(const RunOptions& options) {
  backendOf(options);
  const bool isToReference = options.compare == kReference;
  if (!options.compare.empty() && options.compare != "f32" && !isToReference)
    throw CommandError(
        unknownName("program to compare with", options.compare, {"f32", std::string(kReference)}),
        ExitCode::BadUsage);
  if ((options.bound || options.bisects) && !isToReference)
    throw CommandError("--bound and --bisect need --compare reference", ExitCode::BadUsage);
  if (options.compare == "f32" && !isChanged(options))
    throw CommandError(
        "--compare f32 needs --quantize FORMAT, --recipe, --recover-scaled or --drop-scales: it "
        "compares what they change with the program as it is",
        ExitCode::BadUsage);
  if (options.isPerOp && (options.compare != "f32" || !isQuantized(options)))
    throw CommandError(
        "--per-op needs --compare f32, and --quantize FORMAT or --recipe: it says which "
        "quantized dots the difference comes from",
        ExitCode::BadUsage);
  if (options.isPerOp && (options.recovers || options.dropsScales))
    throw CommandError("--per-op is of dots that --quantize or --recipe makes narrow: leave out "
                       "--recover-scaled and --drop-scales",
                       ExitCode::BadUsage);
  if (!options.page.empty() && !options.isPerOp)
    throw CommandError("--page is the page of --compare f32 --per-op", ExitCode::BadUsage);
  if (isQuantized(options))
    dotOptions(options.dots);
}

void runProgram(const RunOptions& options) {
  checkUsage(options);
  const ThreadLimit limit(options.threads);
  if (isFolder(options))
    return runFolder({.folder = options.program,
                      .weights = options.weights,
                      .inputs = options.inputs,
                      .ignoresUnused = options.ignoresUnused,
                      .output = options.output,
                      .repeat = options.repeat,
                      .isJson = options.isJson});

  const std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  session::ProgramFile file = orThrow(session::readProgramFile(options.program, *context));
  mlir::ModuleOp program = *file.program;
  markWeights(program, options);
  mlir::OwningOpRef<mlir::ModuleOp> original;
  if (options.compare == "f32" || (options.repeat > 0 && isChanged(options)))
    original = program.clone();
  session::PreparationOptions wanted{.function = options.function,
                                     .recoversScaled = options.recovers,
                                     .dropsScales = options.dropsScales};
  if (isQuantized(options))
    wanted.dots = dotOptions(options.dots);
  const session::Preparation preparation = [&] {
    const ElapsedTime time("preparing the program");
    return orThrow(session::prepareProgram(program, wanted), options.program);
  }();
  warnOf(preparation.warnings, options.program);
  std::optional<RecoveryReport> recovery;
  if (preparation.recovered)
    recovery = reportOf(*preparation.recovered, preparation.recoverSeconds);
  std::optional<QuantizationReport> quantization;
  if (preparation.dots)
    quantization = reportOf(*preparation.dots, preparation.quantizeSeconds, *wanted.dots, options);
  std::optional<DropCounts> drops;
  if (preparation.drops)
    drops = countsOf(*preparation.drops);

  const bool looksInside =
      !options.profile.empty() || !options.dump.empty() || options.isPerOp || options.failsOnMissed;
  if (looksInside && options.function.empty() && !session::selfChecks(program).empty())
    throw CommandError("--profile, --dump, --per-op and --fail-on-missed are of one function: "
                       "name it with --function",
                       ExitCode::BadUsage);
  if (options.explains) {
    explainProgram(program, drops, options);
    return;
  }
  std::optional<checkpoint::OutputFile> page; // created now, to report an unwritable place
  if (!options.page.empty())
    page.emplace(createFile(options.page));
  const std::unique_ptr<session::ProbeFolder> probes = probeFolderOf(options);
  if (options.function.empty() && !session::selfChecks(program).empty()) {
    program::RunContext host = hostOf(options, probes.get(), 1);
    const RunInterruption interruption(host);
    runChecks(program, options.program, backendOf(options), host,
              options.isJson ? ReportFormat::Json : ReportFormat::Text);
    return;
  }
  auto function = orThrow(session::findFunction(program, options.function), options.program);
  checkOutputFiles(options.output, session::resultNames(function)); // before the work
  const Run run = runFunction(function, file.container, options, probes.get(), MissedDots::Told);
  RunReport report{.program = options.program,
                   .function = function.getName().str(),
                   .backend = options.backend,
                   .recovery = recovery,
                   .drops = drops,
                   .quantization = quantization,
                   .weights = run.weights,
                   .times = run.times,
                   .comparedTimes = std::nullopt,
                   .profile = run.profile,
                   .outputs = {}};
  for (std::size_t i = 0; i < run.outputs.names.size(); ++i)
    report.outputs.push_back(
        {.name = run.outputs.names[i],
         .tensor = &run.outputs.values[i].tensor(),
         .process = run.processes > 1 ? std::optional(run.outputs.processes[i]) : std::nullopt,
         .comparison = {}});

  for (std::int64_t process = 0; process < run.processes && !options.output.empty(); ++process) {
    std::vector<session::NamedOutput> named;
    for (const OutputReport& output : report.outputs)
      if (output.process.value_or(process) == process)
        named.push_back({output.name, output.tensor});
    writeOutputs(pathOf(options.output, process), named);
  }
  report.comparedWith = options.compare;
  std::optional<Run> reference;
  if (options.compare == kReference) {
    RunOptions other = options;
    other.backend = kReference;
    other.repeat = 0;
    other.profile = other.dump = "";
    reference = runFunction(function, file.container, other, probes.get(), MissedDots::Known);
    compareOutputs(reference->outputs, report);
    report.comparedTimes = reference->times;
  }
  if (original && !(quantization && quantization->hasState)) {
    RunOptions asItIs = options;
    asItIs.profile = asItIs.dump = "";
    const Run f32 = runFunction(orThrow(session::findFunction(*original, options.function)),
                                file.container, asItIs, probes.get(), MissedDots::Known);
    if (options.compare == "f32") {
      compareOutputs(f32.outputs, report);
      report.comparedTimes = f32.times;
    }
    if (options.repeat > 0)
      report.f32Times = f32.times;
  }
  if (options.isPerOp)
    report.dotErrors = findDotErrors(orThrow(session::findFunction(*original, options.function)),
                                     file.container, options);
  if (page)
    commit(*page, pageOf(report));
  printText(options.isJson ? json(report) : text(report));
  if (options.bisects && run.processes == 1)
    printText(bisect(function, options, options.bound.value_or(2)));
  if (options.bound)
    holdToBound(report, *options.bound);
  reportFailures(run.checks);
}

} // namespace

void addRunCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "Run a program on weights and inputs, and compare the results");
  auto options = std::make_shared<RunOptions>();
  readsPath(command
                ->add_option("PROGRAM", options->program,
                             "StableHLO as MLIR text, or a folder that octavo compile has written")
                ->type_name("FILE|FOLDER")
                ->required(),
            ReadForm::Path, {.noun = "program", .readsInFolder = [](std::string_view name) {
                               return name == program::kProgramFile || program::isPartName(name);
                             }});
  readsPath(
      command
          ->add_option("--weights", options->weights,
                       "Weights: tensors for the arguments of the same names; may be repeated")
          ->type_name("FILE.safetensors")
          ->allow_extra_args(false));
  readsPath(command
                ->add_option(
                    "--input", options->inputs,
                    "An array for the named argument, or for the next one that is not a weight; or "
                    "tensors by name. May be repeated")
                ->type_name("NAME=FILE.npy|FILE.npy|FILE.safetensors")
                ->allow_extra_args(false),
            ReadForm::Named);
  readsPath(command
                ->add_option("--infeed", options->infeed,
                             "The arrays that the program's next infeed takes; may be repeated")
                ->type_name("FILE.npy[,FILE.npy]...")
                ->allow_extra_args(false),
            ReadForm::List);
  writesPath(command
                 ->add_option("--probes", options->probes,
                              "Folder to which the program's probes (interpreter.probe) write")
                 ->type_name("FOLDER"),
             {.writesInFolder = session::isProbeFile});
  command->add_flag("--ignore-unused", options->ignoresUnused,
                    "Ignore tensors that no argument uses");
  command->add_option("--function", options->function, "Function to run instead of @main")
      ->type_name("NAME");
  CLI::Option* quantize =
      command
          ->add_option("--quantize", options->dots.format,
                       "Quantize the program's dots first, the weights in this scaled format")
          ->type_name("FORMAT");
  command->add_flag("--recover-scaled", options->recovers,
                    "Multiply scaled tensors where the program multiplies what it dequantizes");
  command->add_flag("--drop-scales", options->dropsScales,
                    "Skip quantizations whose results the program only dequantizes again; rounds "
                    "less than the program");
  command
      ->add_option("--compare", options->compare,
                   "Run the program as it is too, or by the interpreter, and compare")
      ->type_name("f32|reference");
  command->add_flag(
      "--per-op", options->isPerOp,
      "With --compare f32: the error of each quantized dot, and its share of the whole error");
  writesPath(command
                 ->add_option("--page", options->page,
                              "Also write the result of --per-op as a page of HTML")
                 ->type_name("FILE.html"));
  command
      ->add_option("--bound", options->bound,
                   "Exit with 1 if an output differs from the reference's by more than this")
      ->type_name("ULP");
  command->add_flag(
      "--bisect", options->bisects,
      "Name the first operation whose own result differs by more than --bound, or 2 ulp");
  writesPath(command->add_option("--output", options->output, "Write the outputs")
                 ->type_name("FILE.safetensors|FILE.npy|FOLDER"));
  command
      ->add_option("--backend", options->backend,
                   "What evaluates the program: compiled; reference, the interpreter; or guarded, "
                   "compiled with checks of its memory")
      ->type_name("NAME")
      ->capture_default_str();
  writesPath(command
                 ->add_option(
                     "--profile", options->profile,
                     "Run once more, write a trace of its steps for Perfetto, and print where the "
                     "time goes")
                 ->type_name("FILE.json"));
  writesPath(command
                 ->add_option(
                     "--dump", options->dump,
                     "Write the program after each stage of compiling, and the code of its kernels")
                 ->type_name("FOLDER"));
  command->add_flag(
      "--explain-compile", options->explains,
      "Print the compiled program's steps, and why operations stay uncompiled; run nothing");
  command->add_option("--repeat", options->repeat, "Run N more times and print the times")
      ->type_name("N");
  addFailOnMissed(*command, options->failsOnMissed);
  command->add_flag("--json", options->isJson, "Print JSON");
  addThreadsOption(*command, options->threads);
  const std::vector<CLI::Option*> before = command->get_options();
  addDotFlags(*command, options->dots, quantize);
  std::vector<const CLI::Option*> ofDots;
  for (const CLI::Option* option : command->get_options())
    if (std::find(before.begin(), before.end(), option) == before.end())
      ofDots.push_back(option);
  command->footer(R"(Examples:
  octavo run model.mlir --weights model.safetensors --input ids=ids.npy --output out.npy
  octavo run model.mlir --weights model.safetensors --input ids.npy --quantize mxfp4 --compare f32
  octavo run model.mlir --weights model.safetensors --input ids.npy --quantize mxfp4 \
      --compare f32 --per-op --page errors.html
                                  which dots the error comes from
  octavo run model.mlir --explain-compile
  octavo run model --input ids=ids.npy
                                  a folder of octavo compile
  octavo run test.mlir            a program that checks itself: exits 0 when every check held
  octavo run spmd.mlir --input x-{process}.npy --output y-{process}.npy
                                  a program for several processes, each with files of its own)");
  command->callback([options, ofDots, command] {
    if (isFolder(*options))
      refuseOptionsOfPrograms(*command, ofDots);
    for (const CLI::Option* option : ofDots)
      if (option->count() > 0 && !isQuantized(*options))
        throw CommandError(option->get_name() + " requires --quantize FORMAT or --recipe",
                           ExitCode::BadUsage);
    runProgram(*options);
  });
}

} // namespace octavo::tools
