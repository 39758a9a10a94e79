// The subcommands of `octavo checkpoint`. Each has one file in this folder and one function, which
// adds the subcommand, its options and its callback to the group. To add one:
//
//     void addInspectCommand(CLI::App& group);   declared here, defined in Inspect.cpp,
//                                                called in Checkpoint.cpp, listed in
//                                                ../CMakeLists.txt
//
// The rules of ../Commands.h for errors, exit codes and streams apply. ../Progress.h shows the
// progress of long commands.
#pragma once

#include "tools/octavo/Commands.h"

namespace octavo::tools {

void addConvertCommand(CLI::App& group);
void addDequantizeCommand(CLI::App& group);
void addDiffCommand(CLI::App& group);
void addInspectCommand(CLI::App& group);
void addLayoutsCommand(CLI::App& group);
void addLintCommand(CLI::App& group);
void addQuantizeWeightsCommand(CLI::App& group);
void addReportCommand(CLI::App& group);
void addScalesCommand(CLI::App& group);
void addVerifyCommand(CLI::App& group);

} // namespace octavo::tools
