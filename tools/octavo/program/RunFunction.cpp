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

#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Infeed.h"
#include "octavo/Session/Binding/Outputs.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/OpenExtents.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace octavo::tools {

using numerics::Tensor;
using program::Value;

/// The placeholder in a path for the number of a process.
static constexpr std::string_view kProcess = "{process}";

static bool namesProcess(const std::string& path) {
  return path.find(kProcess) != std::string::npos;
}

std::string pathOf(std::string path, std::int64_t process) {
  for (std::size_t at; (at = path.find(kProcess)) != std::string::npos;)
    path.replace(at, kProcess.size(), std::to_string(process));
  return path;
}

static session::Sources sourcesOf(const RunOptions& options, std::int64_t process,
                                  session::Reading reading) {
  session::Sources sources{.reading = reading};
  for (const std::string& weights : options.weights)
    sources.weights.emplace_back(pathOf(weights, process));
  for (const std::string& given : options.inputs)
    sources.inputs.push_back(inputFile(pathOf(given, process)));
  sources.unused =
      options.ignoresUnused ? session::UnusedTensors::Ignore : session::UnusedTensors::Refuse;
  return sources;
}

const session::Backend& backendOf(const RunOptions& options) {
  if (const session::Backend* backend = session::find(options.backend))
    return *backend;
  throw CommandError(unknownName("backend", options.backend, session::names()), ExitCode::BadUsage);
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
  if (llvm::Error error = session::closeExtents(function, values))
    throw CommandError(program + ": " + llvm::toString(std::move(error)), ExitCode::BadInput);
}

std::vector<Value> bindProcesses(const std::vector<program::Argument>& arguments,
                                 const RunOptions& options, const std::string& function,
                                 std::int64_t processes, session::Reading reading) {
  const bool isOwn = std::ranges::any_of(options.weights, namesProcess) ||
                     std::ranges::any_of(options.inputs, namesProcess);
  std::vector<Value> values;
  for (std::int64_t process = 0; process < processes; ++process) {
    if (process == 0 || isOwn) {
      std::vector<Value> own = orThrow(
          session::bindArguments(arguments, sourcesOf(options, process, reading), function));
      std::ranges::move(own, std::back_inserter(values));
    } else {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        values.push_back(values[i]);
    }
  }
  return values;
}

program::RunContext hostOf(const RunOptions& options, program::Probes* probes,
                           std::int64_t processes) {
  program::RunContext host;
  host.print = printText;
  host.probes = probes;
  for (const std::string& paths : options.infeed) {
    if (!namesProcess(paths)) {
      host.infeed.push_back(orThrow(session::readFeed(paths)));
      continue;
    }
    host.infeedOfProcess.resize(static_cast<std::size_t>(processes));
    for (std::int64_t process = 0; process < processes; ++process)
      host.infeedOfProcess[static_cast<std::size_t>(process)].push_back(
          orThrow(session::readFeed(pathOf(paths, process))));
  }
  return host;
}

std::unique_ptr<session::ProbeFolder> probeFolderOf(const RunOptions& options) {
  return options.probes.empty() ? nullptr : orThrow(session::ProbeFolder::make(options.probes));
}

void checkOutputFiles(const std::string& output, const std::vector<std::string>& names) {
  if (!output.empty())
    for (const std::filesystem::path& file : session::outputFiles(output, names))
      alsoWrites(file, "--output");
}

void writeOutputs(const std::string& output, const std::vector<session::NamedOutput>& outputs) {
  std::vector<std::string> names;
  for (const session::NamedOutput& each : outputs)
    names.push_back(each.name);
  checkOutputFiles(output, names);
  if (llvm::Error error = session::writeOutputs(output, outputs))
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

void dumpStages(const program::Executable& executable, const RunOptions& options) {
  const auto stages = orThrow(llvmExpected(executable.stages()), options.program);
  if (stages.empty())
    throw CommandError(fmt::format("--dump has the stages of compiled programs; {} is interpreted "
                                   "as a whole: {}",
                                   options.program, executable.explain().interpretedWhole),
                       ExitCode::BadInput);
  const std::filesystem::path folder = options.dump;
  for (const program::Executable::Stage& stage : stages)
    alsoWrites(folder / stage.file, "--dump");
  for (const program::Executable::Stage& stage : stages) {
    std::error_code failed;
    std::filesystem::create_directories((folder / stage.file).parent_path(), failed);
    if (failed)
      throw CommandError(
          fmt::format("{}: {}", (folder / stage.file).parent_path().string(), failed.message()),
          ExitCode::BadInput);
    writeText(folder / stage.file, stage.text);
  }
}

/// Runs once more with a profile, and writes the trace.
static ProfileReport profiled(program::Executable& executable, std::vector<Value> values,
                              program::RunContext host, const RunOptions& options) {
  const program::Explanation explanation = executable.explain();
  if (!explanation.interpretedWhole.empty())
    throw CommandError(fmt::format("--profile has the steps of compiled programs; {} is "
                                   "interpreted as a whole: {}",
                                   options.program, explanation.interpretedWhole),
                       ExitCode::BadInput);
  RunProfile profile;
  host.profile = &profile;
  if (auto results = executable.run(std::move(values), host); !results)
    throw CommandError(results.error(), evaluationFailed());
  profile.end();
  ProfileReport report = reportOf(profile, explanation, measureLimits());
  writeText(options.profile, traceJson(profile, explanation, report));
  return report;
}

/// Reads the values that are not read yet.
static void takeUnread(const program::Executable& executable, std::span<Value> values) {
  if (llvm::Error error = session::takeUnread(executable, values))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadInput);
}

Run runFunction(mlir::func::FuncOp function, const std::optional<session::JaxExport>& container,
                const RunOptions& options, program::Probes* probes, MissedDots missed) {
  Run run;
  const std::string name = function.getName().str();
  std::vector<program::Argument> arguments =
      orThrow(session::argumentsOf(function), options.program);
  session::choosePlatform(arguments, container);
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
                           run.processes == 1 ? session::Reading::Later : session::Reading::Now);
    // The shapes in the files determine open extents, and these determine which values are packed.
    if (!session::hasOpenExtents(function))
      takeUnread(*executable, values);
    run.weights = weightSizes(arguments, std::span(values).first(arguments.size()));
    run.times.bind = time.seconds();
  }
  if (session::hasOpenExtents(function)) {
    closeExtents(function, values, options.program);
    executable = prepared();
    takeUnread(*executable, values);
  }
  if (missed == MissedDots::Told)
    warnOfProgram(function->getParentOfType<mlir::ModuleOp>(), name, options.program,
                  options.failsOnMissed);
  if (!options.dump.empty())
    dumpStages(*executable, options);
  program::RunContext host = hostOf(options, probes, run.processes);
  host.checks = &run.checks;
  const ElapsedTime time(fmt::format("evaluating @{}", name));
  const RunInterruption interruption(host);
  std::vector<Value> again;
  if (options.repeat > 0 || !options.profile.empty())
    again = values;
  auto results = executable->run(std::move(values), host);
  if (!results)
    throw CommandError(results.error(), evaluationFailed());
  run.times.evaluate = time.seconds();
  // A donated argument gets the result of the previous run.
  const auto given = run.processes == 1 ? program::oneForEach(session::donationsOf(function))
                                        : std::vector<program::Donation>();
  std::vector<Value> before = *results;
  for (unsigned i = 0; i < options.repeat; ++i) {
    std::vector<Value> next = again;
    for (const program::Donation& each : given)
      next[each.argument] = std::move(before[each.result]);
    before.clear();
    const auto begin = std::chrono::steady_clock::now();
    auto repeated = executable->run(std::move(next), host);
    if (!repeated)
      throw CommandError(repeated.error(), evaluationFailed());
    run.times.repeated.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    before = std::move(*repeated);
  }
  if (!options.profile.empty())
    run.profile = profiled(*executable, std::move(again), host, options);
  const std::vector<std::string> names = session::resultNames(function);
  for (std::size_t i = 0; i < results->size(); ++i)
    run.outputs.add(names[i % names.size()], static_cast<std::int64_t>(i / names.size()),
                    (*results)[i]);
  return run;
}

} // namespace octavo::tools
