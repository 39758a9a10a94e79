// octavo run: binds weights and inputs to a program and runs it.

#include "tools/octavo/Commands.h"

namespace octavo::tools {

void addRunCommand(CLI::App& app) {
  app.add_subcommand("run", "Bind weights and inputs to a program, run it, compare it");
}

} // namespace octavo::tools
