#include "tools/octavo/program/RunFolder.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/program/InputSets.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunChecks.h"
#include "tools/octavo/program/RunFunction.h"
#include "tools/octavo/program/RunInterruption.h"
#include "tools/octavo/program/RunReport.h"

#include "octavo/Program/Folder/LoadedProgram.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/ForeignProgram.h"
#include "octavo/Session/Binding/Outputs.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace octavo::tools {

namespace {

using program::LoadedProgram;
using program::Value;

constexpr std::string_view kCompileSo = "give it to octavo compile, which writes the folder so";
constexpr std::string_view kRunProgram = "octavo run PROGRAM does it with the program itself";

struct Refused {
  const char* option;
  std::string_view instead;
};
constexpr Refused kRefused[] = {
    {"--function", "a folder has one function: octavo compile --function NAME writes another"},
    {"--quantize", kCompileSo},
    {"--drop-scales", kCompileSo},
    {"--recover-scaled", kRunProgram},
    {"--compare", kRunProgram},
    {"--per-op", kRunProgram},
    {"--page", kRunProgram},
    {"--bound", kRunProgram},
    {"--bisect", kRunProgram},
    {"--backend",
     "a folder is compiled: octavo run PROGRAM --backend NAME runs the program itself"},
    {"--profile", kRunProgram},
    {"--dump", kRunProgram},
    {"--explain-compile", kRunProgram},
    {"--fail-on-missed", kRunProgram},
    {"--infeed", "what a folder holds has no infeed"},
    {"--probes", "what a folder holds has no probes"},
};

std::vector<program::Argument> argumentsOf(const LoadedProgram& program) {
  std::vector<program::Argument> arguments;
  for (const LoadedProgram::Tensor& tensor : program.arguments()) {
    arguments.push_back({.name = tensor.name, .shape = tensor.ofOne, .type = tensor.type});
    if (tensor.openAxis() >= 0)
      arguments.back().shape[static_cast<std::size_t>(tensor.openAxis())] = program::kUnknownExtent;
  }
  return arguments;
}

session::Sources sourcesOf(const FolderRun& run) {
  session::Sources sources = session::weightsOf(run.weights, run.ignoresUnused);
  for (const std::string& given : run.inputs)
    sources.inputs.push_back(inputFile(given));
  sources.reading = session::Reading::Now;
  return sources;
}

std::vector<Value> results(LoadedProgram& program, std::vector<Value> arguments,
                           const program::RunContext& host) {
  auto found = program.run(std::move(arguments), host, {});
  if (!found)
    throw CommandError(found.error(), evaluationFailed());
  return std::move(*found);
}

} // namespace

void refuseOptionsOfPrograms(const CLI::App& command, std::span<const CLI::Option* const> ofDots) {
  const auto refuse = [](const CLI::Option& option, std::string_view instead) {
    if (option.count() > 0)
      throw CommandError(
          fmt::format("{} is not for a folder of octavo compile: {}", option.get_name(), instead),
          ExitCode::BadUsage);
  };
  for (const auto& [name, instead] : kRefused)
    refuse(*command.get_option(name), instead);
  for (const CLI::Option* option : ofDots)
    refuse(*option, kCompileSo);
}

void runFolder(const FolderRun& run) {
  RunTimes times;
  if (const auto foreign = session::foreignFolder(run.folder))
    throw CommandError(run.folder + ": " + *foreign, ExitCode::BadInput);
  const ElapsedTime loading("loading the folder");
  auto loaded = LoadedProgram::load(run.folder);
  if (!loaded)
    throw CommandError(loaded.error(), ExitCode::BadInput);
  LoadedProgram& program = **loaded;
  times.prepare = loading.seconds();
  const std::string name = "@" + program.function();
  std::vector<Value> arguments;
  {
    const ElapsedTime binding("binding weights and inputs");
    arguments = orThrow(session::bindArguments(argumentsOf(program), sourcesOf(run), name));
    if (auto items = program.itemsOf(arguments); !items)
      throw CommandError(run.folder + ": " + items.error(), ExitCode::BadInput);
    times.bind = binding.seconds();
  }
  std::vector<std::string> resultNames;
  for (const LoadedProgram::Tensor& result : program.results())
    resultNames.push_back(result.name);
  checkOutputFiles(run.output, resultNames); // before the work
  program::RunContext host;
  const ElapsedTime evaluating("evaluating " + name);
  const RunInterruption interruption(host);
  const std::vector<Value> first = results(program, arguments, host);
  times.evaluate = evaluating.seconds();
  // A donated argument gets the result of the previous run.
  const auto given = program::oneForEach(program.donations());
  std::vector<Value> before = first;
  for (unsigned i = 0; i < run.repeat; ++i) {
    std::vector<Value> next = arguments;
    for (const program::Donation& each : given)
      next[each.argument] = std::move(before[each.result]);
    before.clear();
    const auto begin = std::chrono::steady_clock::now();
    before = results(program, std::move(next), host);
    times.repeated.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  RunReport report{.program = run.folder,
                   .function = program.function(),
                   .backend = "compiled",
                   .recovery = std::nullopt,
                   .drops = std::nullopt,
                   .quantization = std::nullopt,
                   .weights = {},
                   .times = times,
                   .comparedTimes = std::nullopt,
                   .outputs = {}};
  std::vector<session::NamedOutput> named;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const LoadedProgram::Tensor& result = program.results()[i];
    report.outputs.push_back({.name = result.name,
                              .tensor = &first[i].tensor(),
                              .process = std::nullopt,
                              .comparison = {}});
    named.push_back({result.name, &first[i].tensor()});
  }
  if (!run.output.empty())
    writeOutputs(run.output, named);
  printText(run.isJson ? json(report) : text(report));
}

} // namespace octavo::tools
