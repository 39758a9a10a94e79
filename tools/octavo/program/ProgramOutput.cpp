#include "tools/octavo/program/ProgramOutput.h"
#include "tools/octavo/program/OrThrow.h"

#include "tools/octavo/Commands.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Session/Binding/Program.h"

#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

#include <filesystem>

namespace octavo::tools {

namespace {

using session::ProgramForm;

struct FormName {
  const char* name;
  ProgramForm form;
};
constexpr FormName kForms[] = {{"text", ProgramForm::Text},
                               {"artifact", ProgramForm::Artifact},
                               {"jax-export", ProgramForm::JaxExport}};

ProgramForm chosenForm(const OutputFormFlags& flags, const std::string& path, ProgramForm read) {
  if (!flags.form.empty()) {
    std::vector<std::string> names;
    for (const FormName& row : kForms) {
      if (flags.form == row.name)
        return row.form;
      names.emplace_back(row.name);
    }
    throw CommandError(unknownName("form of a program", flags.form, names), ExitCode::BadUsage);
  }
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".mlir"                                  ? ProgramForm::Text
         : extension == ".mlirbc" || read == ProgramForm::Text ? ProgramForm::Artifact
                                                               : read;
}

vhlo::Version chosenTarget(const OutputFormFlags& flags) {
  if (flags.target.empty())
    return vhlo::kDefaultTarget;
  const std::optional<vhlo::Version> version = vhlo::parseVersion(flags.target);
  const auto numbered = [](const vhlo::Version& v) { return vhlo::Version{v.major, v.minor}; };
  if (!version || *version < vhlo::kOldest || numbered(vhlo::kNewest) < numbered(*version))
    throw CommandError(fmt::format("--target {}: expected a version of VHLO from {} to {}",
                                   flags.target, vhlo::kOldest.text(), vhlo::kNewest.text()),
                       ExitCode::BadUsage);
  return *version;
}

} // namespace

void addOutputFormFlags(CLI::App& command, OutputFormFlags& flags) {
  command
      .add_option("--to", flags.form,
                  "The form to write: text, artifact, jax-export; without it, by the name of the "
                  "output (.mlir, .mlirbc), else as it was read")
      ->type_name("FORM");
  command
      .add_option("--target", flags.target,
                  fmt::format("The version of VHLO that an artifact is written for, from {} to {}; "
                              "without it, {}",
                              vhlo::kOldest.text(), vhlo::kNewest.text(),
                              vhlo::kDefaultTarget.text()))
      ->type_name("VERSION");
}

std::string writeProgram(session::ProgramFile& file, const OutputFormFlags& flags,
                         const std::string& path) {
  const ProgramForm form = chosenForm(flags, path, file.form);
  if (form == ProgramForm::Text && !flags.target.empty())
    throw CommandError("--target is for artifacts; text has no version", ExitCode::BadUsage);
  const vhlo::Version target = chosenTarget(flags);
  if (const Diagnostics heard(*file.program->getContext());
      mlir::failed(mlir::verify(*file.program)))
    throw CommandError(fmt::format("{}: not written: the program that octavo made is not valid, "
                                   "which is a defect of octavo: {}",
                                   path, heard.found()),
                       ExitCode::BadInput);
  std::string bytes, what;
  if (form == ProgramForm::Text) {
    bytes = session::programText(*file.program);
    what = "text";
  } else {
    bytes = orThrow(session::programArtifact(*file.program, target));
    what = session::hasOwnOperations(*file.program)
               ? "MLIR bytecode with octavo's own operations"
               : fmt::format("artifact of VHLO {}", target.text());
  }
  if (form == ProgramForm::JaxExport) {
    if (!file.container) {
      const mlir::func::FuncOp function = orThrow(session::findFunction(*file.program));
      mlir::func::FuncOp main = function;
      file.container = orThrow(session::JaxExport::of(main.getName(), main.getFunctionType()));
    }
    file.container->setArtifact(bytes);
    bytes = file.container->bytes();
    what += " in jax.export's container";
  }
  auto written = checkpoint::OutputFile::create(path).and_then([&](auto&& output) {
    return output.write(std::string_view(bytes)).and_then([&] { return output.commit(); });
  });
  if (!written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
  return fmt::format("{}: {} bytes, {}", path, bytes.size(), what);
}

} // namespace octavo::tools
