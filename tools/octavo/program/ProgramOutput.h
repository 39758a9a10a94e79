// The form in which a command writes a program: that of `octavo convert` and `octavo quantize`.
#pragma once

#include "octavo/Session/Binding/ProgramFile.h"

#include <CLI/CLI.hpp>

#include <string>

namespace octavo::tools {

struct OutputFormFlags {
  std::string form;
  std::string target;
};

/// Adds --to and --target to a subcommand.
void addOutputFormFlags(CLI::App& command, OutputFormFlags& flags);

/// Writes the program to `path`, whole or not at all, and gives a line that says as what. Without
/// --to: text where the name ends in .mlir, an artifact where it ends in .mlirbc, else the form in
/// which the program was read. Throws CommandError.
std::string writeProgram(session::ProgramFile& file, const OutputFormFlags& flags,
                         const std::string& path);

} // namespace octavo::tools
