// octavo calibrate: runs a program on inputs and records the ranges of its dots' operands
// (docs/commands/calibrate.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/StatusLine.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/Threads.h"
#include "tools/octavo/program/InputSets.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunChecks.h"
#include "tools/octavo/program/RunInterruption.h"

#include "octavo/Analysis/Calibration.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Session/CallableProgram.h"
#include "octavo/Session/Trials/RangeRecorder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>

namespace octavo::tools {

namespace {

using analysis::CalibratedTensor;
using analysis::Calibration;
using program::Value;

struct CalibrateFlags {
  std::string program;
  std::vector<std::string> weights;
  std::vector<std::string> inputs;
  std::vector<std::string> merged;
  std::string output;
  std::string function;
  std::string parameters;
  std::string backend = "compiled";
  bool ignoresUnused = false;
  bool hasColumns = false;
  bool isJson = false;
  int threads = 0;
};

constexpr double kPercentiles[] = {99.99, 99.9, 99};

std::string tableOf(const Calibration& calibration) {
  TextTable table = {{"dot", "side", "columns", "values", "amax", "99.99%", "99.9%", "99%"}};
  for (const CalibratedTensor& tensor : calibration.tensors) {
    std::vector<std::string> row = {
        tensor.dot, tensor.side, tensor.columns == 0 ? "-" : std::to_string(tensor.columns),
        std::to_string(tensor.magnitudes.count()), fmt::format("{:.4g}", tensor.magnitudes.amax())};
    for (const double percent : kPercentiles)
      row.push_back(fmt::format("{:.4g}", tensor.magnitudes.percentile(percent)));
    table.push_back(std::move(row));
  }
  return fmt::format("{}\n{} side{} of dots over {} set{} of inputs\n", plainText(table),
                     calibration.tensors.size(), calibration.tensors.size() == 1 ? "" : "s",
                     calibration.inputSets, calibration.inputSets == 1 ? "" : "s");
}

nlohmann::ordered_json document(const Calibration& calibration) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const CalibratedTensor& tensor : calibration.tensors) {
    nlohmann::ordered_json percentiles;
    for (const double percent : kPercentiles)
      percentiles[fmt::format("{}", percent)] = tensor.magnitudes.percentile(percent);
    tensors.push_back({{"dot", tensor.dot},
                       {"side", tensor.side},
                       {"columns", tensor.columns},
                       {"values", tensor.magnitudes.count()},
                       {"amax", tensor.magnitudes.amax()},
                       {"percentiles", std::move(percentiles)}});
  }
  return {{"input_sets", calibration.inputSets}, {"tensors", std::move(tensors)}};
}

/// Warns about sides without values or with zeros only, which have no range. An error if no side
/// has values.
void tellEmpty(const Calibration& calibration) {
  std::size_t empty = 0, withoutRange = 0;
  const CalibratedTensor* first = nullptr;
  for (const CalibratedTensor& tensor : calibration.tensors) {
    if (tensor.magnitudes.amax() != 0)
      continue;
    if (withoutRange++ == 0)
      first = &tensor;
    if (tensor.magnitudes.count() == 0)
      ++empty;
  }
  if (withoutRange == 0)
    return;
  const std::string what =
      fmt::format("the {} of dot \"{}\"{}", first->side, first->dot,
                  withoutRange == 1 ? "" : fmt::format(" and {} other sides", withoutRange - 1));
  if (empty == calibration.tensors.size())
    throw CommandError(fmt::format("no dot was given a value, among them {}: there is no range; "
                                   "give inputs that are not empty",
                                   what),
                       ExitCode::BadInput);
  std::fflush(stdout);
  fmt::print(stderr,
             "octavo: warning: {} had no values{} in these inputs: no range, and no static scale\n",
             what, empty == withoutRange ? "" : " other than zero");
}

Calibration readOrThrow(const std::string& path) {
  auto calibration = analysis::readCalibration(path);
  if (!calibration)
    throw CommandError(calibration.error().message(), ExitCode::BadInput);
  return std::move(*calibration);
}

Calibration mergedOf(const std::vector<std::string>& files) {
  Calibration whole = readOrThrow(files.front());
  for (std::size_t i = 1; i < files.size(); ++i)
    if (const auto merged = whole.merge(readOrThrow(files[i])); !merged)
      throw CommandError(fmt::format("{} and {} are not of one program: {}", files.front(),
                                     files[i], merged.error()),
                         ExitCode::BadInput);
  return whole;
}

const session::Options kOptions = {.array = "--inputs NAME=FILE.npy"};

/// The program's arguments, with the values of --weights as their defaults.
std::vector<program::Argument> withWeights(const session::CallableProgram& program,
                                           const CalibrateFlags& flags) {
  std::vector<program::Argument> arguments = program.arguments();
  session::Sources sources = session::weightsOf(flags.weights, flags.ignoresUnused);
  sources.options = kOptions;
  const ElapsedTime time("binding weights");
  std::vector<std::optional<Value>> values =
      orThrow(session::bindNamed(arguments, sources, "@" + program.name()));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (values[i])
      arguments[i].given = std::move(values[i]);
  return arguments;
}

void runSet(session::CallableProgram& program, const InputSet& set,
            const std::vector<program::Argument>& arguments, const CalibrateFlags& flags,
            session::RangeRecorder& recorder, const program::RunContext& host) {
  session::Sources sources;
  sources.inputs = set.files;
  sources.unused =
      flags.ignoresUnused ? session::UnusedTensors::Ignore : session::UnusedTensors::Refuse;
  sources.options = kOptions;
  const std::string where = "inputs " + set.label;
  std::vector<Value> values =
      orThrow(session::bindArguments(arguments, sources, "@" + program.name()), where);
  const session::CallableProgram::Prepared prepared =
      orThrow(program.prepare(values), flags.program);
  if (auto results = program.call(prepared, std::move(values), host, {}); !results) {
    const std::string message = llvm::toString(results.takeError());
    throw CommandError(where + ": " + message, evaluationFailed());
  }
  recorder.endRun();
}

Calibration calibrationOf(const CalibrateFlags& flags) {
  const session::Backend* backend = session::find(flags.backend);
  if (backend == nullptr)
    throw CommandError(unknownName("backend", flags.backend, session::names()), ExitCode::BadUsage);
  auto context = session::makeContext();
  session::ProgramFile file = orThrow(session::readProgramFile(flags.program, *context));
  std::unique_ptr<session::CallableProgram> program;
  {
    const ElapsedTime preparing("preparing the program");
    program = orThrow(
        session::CallableProgram::make(
            std::move(context), std::move(file), *backend,
            {.function = flags.function,
             .weights = orThrow(session::tensorNames(flags.weights)),
             .probes = transforms::CalibrationProbeOptions{flags.parameters, flags.hasColumns}}),
        flags.program);
  }
  const std::vector<InputSet> sets = inputSets(flags.inputs, program->arguments());
  const std::vector<program::Argument> arguments = withWeights(*program, flags);
  using Columns = session::RangeRecorder::Columns;
  session::RangeRecorder recorder(program->probed(),
                                  flags.hasColumns ? Columns::Record : Columns::Leave);
  program::RunContext host;
  host.probes = &recorder;
  const RunInterruption interruption(host);
  std::atomic<std::size_t> done = 0;
  const StatusLine line([&](double seconds) {
    return fmt::format("calibrating, {} of {} sets of inputs, {:.0f} s", done.load(), sets.size(),
                       seconds);
  });
  for (const InputSet& set : sets) {
    runSet(*program, set, arguments, flags, recorder, host);
    ++done;
  }
  return recorder.calibration();
}

void checkUsage(const CalibrateFlags& flags) {
  const auto refuse = [](const std::string& message) {
    throw CommandError(message, ExitCode::BadUsage);
  };
  if (flags.merged.empty()) {
    if (flags.program.empty())
      refuse("give PROGRAM and --inputs, or --merge FILE FILE");
    if (flags.inputs.empty())
      refuse("give --inputs: what the program is run on");
    return;
  }
  if (!flags.program.empty() || !flags.inputs.empty() || !flags.weights.empty())
    refuse("--merge takes calibrations alone: no program, no weights and no inputs");
  if (flags.merged.size() < 2)
    refuse("--merge needs two calibrations or more");
}

void calibrate(const CalibrateFlags& flags) {
  checkUsage(flags);
  const ThreadLimit limit(flags.threads);
  const Calibration calibration =
      flags.merged.empty() ? calibrationOf(flags) : mergedOf(flags.merged);
  tellEmpty(calibration);
  if (const auto written = analysis::writeCalibration(flags.output, calibration); !written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
  printText(flags.isJson ? document(calibration).dump(2) + "\n" : tableOf(calibration));
}

} // namespace

void addCalibrateCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Run inputs through a program and keep the ranges of its products' operands");
  auto flags = std::make_shared<CalibrateFlags>();
  readsPath(
      command->add_option("PROGRAM", flags->program,
                          "StableHLO: MLIR text, a portable artifact, or jax.export's container"));
  writesPath(command->add_option("-o,--output", flags->output, "Write the calibration")
                 ->type_name("FILE.json")
                 ->required());
  readsPath(command
                ->add_option("--inputs", flags->inputs,
                             "A set of inputs, or a folder of sets; may be repeated")
                ->type_name("FOLDER|[NAME=]FILE[,[NAME=]FILE]...")
                ->allow_extra_args(false),
            ReadForm::NamedList, {.noun = "inputs"});
  readsPath(
      command
          ->add_option("--weights", flags->weights,
                       "Weights: tensors for the arguments of the same names; may be repeated")
          ->type_name("FILE.safetensors")
          ->allow_extra_args(false));
  readsPath(command
                ->add_option("--merge", flags->merged,
                             "Merge calibrations of one program instead of running it")
                ->type_name("FILE.json"));
  command->add_flag("--columns", flags->hasColumns,
                    "Keep the largest magnitude of each column, too, and what is known of weights");
  command->add_flag("--ignore-unused", flags->ignoresUnused,
                    "Ignore tensors that no argument uses");
  command->add_option("--function", flags->function, "Function to run instead of @main")
      ->type_name("NAME");
  command
      ->add_option("--parameters", flags->parameters,
                   "Treat arguments whose name contains this as weights, besides those marked "
                   "octavo.parameter")
      ->type_name("REGEX");
  command
      ->add_option("--backend", flags->backend,
                   "What evaluates the program: compiled, or reference, the interpreter")
      ->type_name("NAME")
      ->capture_default_str();
  addThreadsOption(*command, flags->threads);
  command->add_flag("--json", flags->isJson, "Print the figures as JSON");
  command->footer(R"(Examples:
  octavo calibrate model.mlir --weights model.safetensors --inputs ids=ids.npy,mask=mask.npy -o model.json
  octavo calibrate model.mlir --weights model.safetensors --inputs samples/ -o model.json
  octavo calibrate --merge monday.json tuesday.json -o both.json
  octavo quantize model.mlir --format fp8_tensor --calibration model.json --explain)");
  command->callback([flags] { calibrate(*flags); });
}

} // namespace octavo::tools
