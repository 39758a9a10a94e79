#include "tools/octavo/program/RunFunction.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/program/InputSets.h"
#include "tools/octavo/program/MissedWarnings.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunChecks.h"
#include "tools/octavo/program/RunInterruption.h"
#include "tools/octavo/program/TextFile.h"

#include "octavo/Backends/Backends.h"
#include "octavo/Backends/OpenExtents.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Runtime/Infeed.h"
#include "octavo/Runtime/Outputs.h"
#include "octavo/Runtime/Program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace octavo::tools {

using execution::Value;
using numerics::Tensor;

/// What stands in a path for the number of a process.
static constexpr std::string_view kProcess = "{process}";

static bool namesProcess(const std::string& path) {
  return path.find(kProcess) != std::string::npos;
}

std::string pathOf(std::string path, std::int64_t process) {
  for (std::size_t at; (at = path.find(kProcess)) != std::string::npos;)
    path.replace(at, kProcess.size(), std::to_string(process));
  return path;
}

static runtime::Sources sourcesOf(const RunOptions& options, std::int64_t process,
                                  runtime::Reading reading) {
  runtime::Sources sources{.reading = reading};
  for (const std::string& weights : options.weights)
    sources.weights.emplace_back(pathOf(weights, process));
  for (const std::string& given : options.inputs)
    sources.inputs.push_back(inputFile(pathOf(given, process)));
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

void Outputs::add(const std::string& name, std::int64_t process, const Value& value) {
  if (value.isToken())
    return;
  if (value.isTuple()) {
    for (std::size_t i = 0; i < value.elements().size(); ++i)
      add(fmt::format("{}.{}", name, i), process, value.elements()[i]);
    return;
  }
  names.push_back(name);
  processes.push_back(process);
  if (value.isTensor()) {
    values.push_back(value);
    return;
  }
  const std::vector<float> dequantized = numerics::dequantize(value.scaled());
  Tensor tensor = Tensor::zeros(format::element("f32"), value.scaled().shape);
  std::copy(dequantized.begin(), dequantized.end(), tensor.as<float>().begin());
  values.emplace_back(std::move(tensor));
}

void closeExtents(mlir::func::FuncOp function, const std::vector<Value>& values,
                  const std::string& program) {
  if (llvm::Error error = backends::closeExtents(function, values))
    throw CommandError(program + ": " + llvm::toString(std::move(error)), ExitCode::BadInput);
}

std::vector<Value> bindProcesses(const std::vector<runtime::Argument>& arguments,
                                 const RunOptions& options, const std::string& function,
                                 std::int64_t processes, runtime::Reading reading) {
  const bool isOwn = std::ranges::any_of(options.weights, namesProcess) ||
                     std::ranges::any_of(options.inputs, namesProcess);
  std::vector<Value> values;
  for (std::int64_t process = 0; process < processes; ++process) {
    if (process == 0 || isOwn) {
      std::vector<Value> own = orThrow(
          runtime::bindArguments(arguments, sourcesOf(options, process, reading), function));
      std::ranges::move(own, std::back_inserter(values));
    } else {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        values.push_back(values[i]);
    }
  }
  return values;
}

execution::Host hostOf(const RunOptions& options, execution::Probes* probes,
                       std::int64_t processes) {
  execution::Host host;
  host.print = printText;
  host.probes = probes;
  for (const std::string& paths : options.infeed) {
    if (!namesProcess(paths)) {
      host.infeed.push_back(orThrow(runtime::readFeed(paths)));
      continue;
    }
    host.infeedOfProcess.resize(static_cast<std::size_t>(processes));
    for (std::int64_t process = 0; process < processes; ++process)
      host.infeedOfProcess[static_cast<std::size_t>(process)].push_back(
          orThrow(runtime::readFeed(pathOf(paths, process))));
  }
  return host;
}

std::unique_ptr<runtime::ProbeFolder> probeFolderOf(const RunOptions& options) {
  return options.probes.empty() ? nullptr : orThrow(runtime::ProbeFolder::make(options.probes));
}

void checkOutputFiles(const std::string& output, const std::vector<std::string>& names) {
  if (!output.empty())
    for (const std::filesystem::path& file : runtime::outputFiles(output, names))
      alsoWrites(file, "--output");
}

void writeOutputs(const std::string& output, const std::vector<runtime::NamedOutput>& outputs) {
  std::vector<std::string> names;
  for (const runtime::NamedOutput& each : outputs)
    names.push_back(each.name);
  checkOutputFiles(output, names);
  if (llvm::Error error = runtime::writeOutputs(output, outputs))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadInput);
}

static void requireOutputsOfProcesses(const RunOptions& options, std::int64_t processes) {
  if (processes > 1 && !options.output.empty() && !namesProcess(options.output))
    throw CommandError(fmt::format("--output {}: {} processes have outputs of their own; write "
                                   "{{process}} where the number of each is to stand, as in "
                                   "out-{{process}}.npy",
                                   options.output, processes),
                       ExitCode::BadUsage);
}

void dumpStages(const execution::Executable& executable, const RunOptions& options) {
  const auto stages = orThrow(executable.stages(), options.program);
  if (stages.empty())
    throw CommandError(fmt::format("--dump has the stages of compiled programs; {} is interpreted "
                                   "as a whole: {}",
                                   options.program, executable.explain().interpretedWhole),
                       ExitCode::BadInput);
  const std::filesystem::path folder = options.dump;
  for (const execution::Executable::Stage& stage : stages)
    alsoWrites(folder / stage.file, "--dump");
  for (const execution::Executable::Stage& stage : stages) {
    std::error_code failed;
    std::filesystem::create_directories((folder / stage.file).parent_path(), failed);
    if (failed)
      throw CommandError(
          fmt::format("{}: {}", (folder / stage.file).parent_path().string(), failed.message()),
          ExitCode::BadInput);
    writeText(folder / stage.file, stage.text);
  }
}

/// Runs once more, and writes the trace.
static ProfileReport profiled(execution::Executable& executable, std::vector<Value> values,
                              execution::Host host, const RunOptions& options) {
  const execution::Explanation explanation = executable.explain();
  if (!explanation.interpretedWhole.empty())
    throw CommandError(fmt::format("--profile has the steps of compiled programs; {} is "
                                   "interpreted as a whole: {}",
                                   options.program, explanation.interpretedWhole),
                       ExitCode::BadInput);
  RunProfile profile;
  host.profile = &profile;
  if (auto results = executable.run(std::move(values), host); !results)
    throw CommandError(llvm::toString(results.takeError()), evaluationFailed());
  profile.end();
  ProfileReport report = reportOf(profile, explanation, measureLimits());
  writeText(options.profile, traceJson(profile, explanation, report));
  return report;
}

/// Reads the values that are still in files.
static void takeUnread(const execution::Executable& executable, std::span<Value> values) {
  if (llvm::Error error = runtime::takeUnread(executable, values))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadInput);
}

Run runFunction(mlir::func::FuncOp function, const std::optional<runtime::JaxExport>& container,
                const RunOptions& options, execution::Probes* probes, MissedDots missed) {
  Run run;
  const std::string name = function.getName().str();
  std::vector<runtime::Argument> arguments =
      orThrow(runtime::argumentsOf(function), options.program);
  runtime::choosePlatform(arguments, container);
  const auto prepared = [&] {
    const ElapsedTime preparing("preparing the program");
    auto made =
        orThrow(backendOf(options).prepare(function->getParentOfType<mlir::ModuleOp>(), name));
    run.times.prepare += preparing.seconds();
    return made;
  };
  auto executable = prepared();
  run.processes = executable->processes();
  requireOutputsOfProcesses(options, run.processes);
  std::vector<Value> values;
  {
    const ElapsedTime time("binding weights and inputs");
    values = bindProcesses(arguments, options, "@" + name, run.processes,
                           run.processes == 1 ? runtime::Reading::Later : runtime::Reading::Now);
    // The shapes in the files decide open extents, and these which values are packed.
    if (!backends::hasOpenExtents(function))
      takeUnread(*executable, values);
    run.weights = weightSizes(arguments, std::span(values).first(arguments.size()));
    run.times.bind = time.seconds();
  }
  if (backends::hasOpenExtents(function)) {
    closeExtents(function, values, options.program);
    executable = prepared();
    takeUnread(*executable, values);
  }
  if (missed == MissedDots::Told)
    warnOfProgram(function->getParentOfType<mlir::ModuleOp>(), name, options.program,
                  options.failsOnMissed);
  if (!options.dump.empty())
    dumpStages(*executable, options);
  execution::Host host = hostOf(options, probes, run.processes);
  host.checks = &run.checks;
  const ElapsedTime time(fmt::format("evaluating @{}", name));
  const RunInterruption interruption(host);
  std::vector<Value> again;
  if (options.repeat > 0 || !options.profile.empty())
    again = values;
  auto results = executable->run(std::move(values), host);
  if (!results)
    throw CommandError(llvm::toString(results.takeError()), evaluationFailed());
  run.times.evaluate = time.seconds();
  // What the program gives away for a result, it has of the run before.
  const auto given = run.processes == 1 ? execution::oneForEach(runtime::donationsOf(function))
                                        : std::vector<execution::Donation>();
  std::vector<Value> before = *results;
  for (unsigned i = 0; i < options.repeat; ++i) {
    std::vector<Value> next = again;
    for (const execution::Donation& each : given)
      next[each.argument] = std::move(before[each.result]);
    before.clear();
    const auto begin = std::chrono::steady_clock::now();
    auto repeated = executable->run(std::move(next), host);
    if (!repeated)
      throw CommandError(llvm::toString(repeated.takeError()), evaluationFailed());
    run.times.repeated.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    before = std::move(*repeated);
  }
  if (!options.profile.empty())
    run.profile = profiled(*executable, std::move(again), host, options);
  const std::vector<std::string> names = runtime::resultNames(function);
  for (std::size_t i = 0; i < results->size(); ++i)
    run.outputs.add(names[i % names.size()], static_cast<std::int64_t>(i / names.size()),
                    (*results)[i]);
  return run;
}

} // namespace octavo::tools
