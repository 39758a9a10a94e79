// octavo compile: writes a program to a folder, from which it runs without a compiler
// (docs/commands/compile.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/program/DotFlags.h"
#include "tools/octavo/program/MissedWarnings.h"
#include "tools/octavo/program/OrThrow.h"

#include "octavo/Base/ByteText.h"
#include "octavo/Program/Folder/FolderCheck.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/CallableProgram.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace octavo::tools {

namespace {

using session::CallableProgram;
using Json = nlohmann::ordered_json;

struct CompileOptions {
  std::string program, function, folder;
  std::vector<std::string> weights;
  bool ignoresUnused = false;
  bool isJson = false;
  bool recoversScaled = false;
  bool dropsScales = false;
  bool failsOnMissed = false;
  DotFlags dots; ///< without format and recipe, the program is compiled unchanged
};

bool isQuantized(const CompileOptions& options) {
  return !options.dots.format.empty() || !options.dots.recipe.empty();
}

void bindWeights(CallableProgram& program, const CompileOptions& options) {
  session::Sources sources = session::weightsOf(options.weights, options.ignoresUnused);
  sources.options.array = {};
  const ElapsedTime time("binding weights");
  if (llvm::Error error = program.bindFiles(sources, CallableProgram::BoundFor::Folder))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadInput);
}

/// The contents of program.octavo in the folder that was written.
program::FolderFile partsOf(const std::filesystem::path& folder) {
  const auto file = program::readProgramFile(folder).and_then(
      [](const auto& bytes) { return program::readFolderFile(bytes); });
  if (!file)
    throw CommandError(file.error(), ExitCode::BadInput);
  return *file;
}

struct Written {
  std::string name, type;
};

void report(const CallableProgram& program, const CompileOptions& options) {
  std::vector<Written> arguments, results;
  std::size_t bound = 0;
  for (std::size_t i = 0; i < program.arguments().size(); ++i)
    if (program.isBound(i))
      ++bound;
    else
      arguments.push_back({program.arguments()[i].name, program.arguments()[i].describe()});
  for (const CallableProgram::Result& result : program.results())
    results.push_back({result.name, program::describe(result.type, result.shape)});
  const std::optional<transforms::DotReport>& dots = program.dots();
  const program::FolderFile parts = partsOf(options.folder);
  const std::uint64_t weights = parts.weights.size, kernels = parts.kernels.size;
  if (options.isJson) {
    const auto list = [](const std::vector<Written>& tensors) {
      Json rows = Json::array();
      for (const Written& each : tensors)
        rows.push_back({{"name", each.name}, {"type", each.type}});
      return rows;
    };
    printText(Json{{"program", options.program},
                   {"function", program.name()},
                   {"folder", options.folder},
                   {"arguments", list(arguments)},
                   {"results", list(results)},
                   {"bound", bound},
                   {"weight_bytes", weights},
                   {"kernel_bytes", kernels},
                   {"dots", dots ? Json(dots->dots.size()) : Json(nullptr)},
                   {"dots_quantized", dots ? Json(dots->quantized()) : Json(nullptr)},
                   {"dropped_scales",
                    program.dropped() ? Json(program.dropped()->dropped()) : Json(nullptr)}}
                  .dump(2) +
              "\n");
    return;
  }
  std::string text = fmt::format("{}: @{} of {}, {} argument{} bound\n", options.folder,
                                 program.name(), options.program, bound, bound == 1 ? "" : "s");
  if (dots) {
    text += fmt::format("  quantized: {} of {} dots", dots->quantized(), dots->dots.size());
    text += dots->quantized() == 0 ? fmt::format(" ({})\n", dots->whyLeft()) : "\n";
  }
  if (program.dropped())
    text += fmt::format("  left wide: {} of {} tensors that are quantized and dequantized again\n",
                        program.dropped()->dropped(), program.dropped()->quantizations.size());
  for (const Written& each : arguments)
    text += fmt::format("  takes  {}: {}\n", each.name, each.type);
  for (const Written& each : results)
    text += fmt::format("  gives  {}: {}\n", each.name, each.type);
  text += fmt::format("  {} of weights and constants, {} of kernels\n", base::bytesText(weights),
                      base::bytesText(kernels));
  printText(text);
}

void compileProgram(const CompileOptions& options) {
  std::optional<transforms::DotOptions> dots;
  if (isQuantized(options))
    dots = dotOptions(options.dots);
  auto context = session::makeContext();
  session::ProgramFile file = orThrow(session::readProgramFile(options.program, *context));
  std::unique_ptr<CallableProgram> program;
  {
    const ElapsedTime time("compiling the program");
    program = orThrow(
        CallableProgram::make(std::move(context), std::move(file), *session::find("compiled"),
                              {.function = options.function,
                               .weights = orThrow(session::tensorNames(options.weights)),
                               .recoversScaled = options.recoversScaled,
                               .dots = std::move(dots),
                               .dropsScales = options.dropsScales}),
        options.program);
  }
  warnOf(program->warnings(), options.program);
  warnOfMissedDots(program->missed(), options.program, options.failsOnMissed);
  bindWeights(*program, options);
  const ElapsedTime time("writing the folder");
  if (llvm::Error error = program->save(options.folder))
    throw CommandError(options.program + ": " + llvm::toString(std::move(error)),
                       ExitCode::BadInput);
  report(*program, options);
}

} // namespace

void addCompileCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compile", "Write a program to a folder, from which C, C++ and Python run it");
  auto options = std::make_shared<CompileOptions>();
  readsPath(
      command
          ->add_option("PROGRAM", options->program, "StableHLO, in any form that octavo run takes")
          ->type_name("FILE")
          ->required());
  readsPath(command
                ->add_option("--weights", options->weights,
                             "Weights: tensors for the arguments of the same names, which the "
                             "folder keeps; may be "
                             "repeated")
                ->type_name("FILE.safetensors")
                ->allow_extra_args(false));
  writesPath(command->add_option("-o,--output", options->folder, "The folder")
                 ->type_name("FOLDER")
                 ->required());
  command->add_flag("--ignore-unused", options->ignoresUnused,
                    "Ignore tensors that no argument uses");
  command->add_option("--function", options->function, "Function to compile instead of @main")
      ->type_name("NAME");
  CLI::Option* quantize =
      command
          ->add_option("--quantize", options->dots.format,
                       "Quantize the program's dots first, the weights in this scaled format")
          ->type_name("FORMAT");
  command->add_flag("--recover-scaled", options->recoversScaled,
                    "Multiply scaled tensors where the program multiplies what it dequantizes");
  command->add_flag("--drop-scales", options->dropsScales,
                    "Leave tensors wide that the program quantizes only to dequantize them: rounds "
                    "less than the program");
  addFailOnMissed(*command, options->failsOnMissed);
  command->add_flag("--json", options->isJson, "Print JSON");
  const std::vector<CLI::Option*> before = command->get_options();
  addDotFlags(*command, options->dots, quantize);
  std::vector<const CLI::Option*> ofDots;
  for (const CLI::Option* option : command->get_options())
    if (std::find(before.begin(), before.end(), option) == before.end())
      ofDots.push_back(option);
  command->footer(R"(Examples:
  octavo compile model.mlir --weights model.safetensors -o model
  octavo compile model.mlir --weights model.safetensors --quantize mxfp4 -o model-mxfp4
octavo_program_load("model") of octavo_program.h runs it.)");
  command->callback([options, ofDots] {
    for (const CLI::Option* option : ofDots)
      if (option->count() > 0 && !isQuantized(*options))
        throw CommandError(option->get_name() + " requires --quantize FORMAT or --recipe",
                           ExitCode::BadUsage);
    compileProgram(*options);
  });
}

} // namespace octavo::tools
