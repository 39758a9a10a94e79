// Writes programs, for `octavo convert` and `octavo quantize`.
#pragma once

#include "octavo/Session/Binding/ProgramFile.h"

#include <CLI/CLI.hpp>

#include <string>

namespace octavo::tools {

/// The values of --to and --target.
struct OutputFormFlags {
  std::string form;
  std::string target;
};

/// Adds --to and --target to a subcommand.
void addOutputFormFlags(CLI::App& command, OutputFormFlags& flags);

/// Writes the program to `path`, completely or not at all. Returns a line that names the form.
/// Without --to, the form is text for a name that ends in .mlir, an artifact for .mlirbc, else the
/// form of the input. Throws CommandError.
std::string writeProgram(session::ProgramFile& file, const OutputFormFlags& flags,
                         const std::string& path);

} // namespace octavo::tools
