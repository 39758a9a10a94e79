// octavo convert: a program from one form of file to another (docs/commands/convert.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/program/ProgramOutput.h"
#include "tools/octavo/program/TextFile.h"

#include "octavo/Runtime/Program.h"
#include "octavo/Runtime/ProgramFile.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

struct ConvertFlags {
  std::string program;
  std::string output;
  OutputFormFlags form;
};

void convertProgram(const ConvertFlags& flags) {
  checkIsNoInput(flags.output, std::span(&flags.program, 1));
  const std::unique_ptr<mlir::MLIRContext> context = runtime::makeContext();
  llvm::Expected<runtime::ProgramFile> file =
      runtime::readProgramFile(flags.program, *context, runtime::JaxModuleCalls::Kept);
  if (!file)
    throw CommandError(llvm::toString(file.takeError()), ExitCode::BadInput);
  fmt::print("{}\n", writeProgram(*file, flags.form, flags.output));
}

} // namespace

void addConvertProgramCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "convert", "Write a program as text, as a portable artifact or in jax.export's container");
  auto flags = std::make_shared<ConvertFlags>();
  command->add_option("PROGRAM", flags->program, "StableHLO: text, artifact, or from jax.export")
      ->required();
  command->add_option("-o,--output", flags->output, "Where to write it")
      ->type_name("OUT")
      ->required();
  addOutputFormFlags(*command, flags->form);
  command->footer(R"(Examples:
  octavo convert model.bin -o model.mlir
  octavo convert model.mlir -o model.mlirbc --target 1.8.0
  octavo convert model.mlir -o model.bin --to jax-export)");
  command->callback([flags] { convertProgram(*flags); });
}

} // namespace octavo::tools
