// octavo convert: converts a program from one form of file to another (docs/commands/convert.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/program/ProgramOutput.h"

#include "octavo/Base/PrintableText.h"
#include "octavo/Base/Shortened.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

struct ConvertFlags {
  std::string program;
  std::string output;
  OutputFormFlags form;
  bool skipsUnreadable = false;
};

void convertProgram(const ConvertFlags& flags) {
  const std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  llvm::Expected<session::ProgramFile> file = session::readProgramFile(
      flags.program, *context, session::JaxModuleCalls::Kept,
      flags.skipsUnreadable ? session::Unreadable::LeftOut : session::Unreadable::Refused);
  if (!file)
    throw CommandError(llvm::toString(file.takeError()), ExitCode::BadInput);
  for (const session::UnreadFunction& function : file->leftOut)
    fmt::print(stderr, "octavo: warning: @{} is left out: {}\n", base::printable(function.name),
               base::printable(base::shortened(function.why)));
  fmt::print("{}\n", writeProgram(*file, flags.form, flags.output));
}

} // namespace

void addConvertProgramCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "convert", "Write a program as text, as a portable artifact or in jax.export's container");
  auto flags = std::make_shared<ConvertFlags>();
  readsPath(
      command
          ->add_option("PROGRAM", flags->program, "StableHLO: text, artifact, or from jax.export")
          ->required());
  writesPath(command->add_option("-o,--output", flags->output, "File to write")
                 ->type_name("OUT")
                 ->required());
  addOutputFormFlags(*command, flags->form);
  command->add_flag(
      "--skip-unreadable", flags->skipsUnreadable,
      "Leave out the functions that octavo cannot read, and what refers to them, with "
      "a warning for each, instead of refusing the program");
  command->footer(R"(Examples:
  octavo convert model.bin -o model.mlir
  octavo convert model.mlir -o model.mlirbc --target 1.8.0
  octavo convert model.mlir -o model.bin --to jax-export)");
  command->callback([flags] { convertProgram(*flags); });
}

} // namespace octavo::tools
