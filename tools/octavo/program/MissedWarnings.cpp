#include "tools/octavo/program/MissedWarnings.h"

#include "tools/octavo/Commands.h"

#include "octavo/Base/PrintableText.h"
#include "octavo/Transforms/Walks/ScatterWindows.h"

#include <fmt/format.h>

#include <cstdio>

namespace octavo::tools {

void warnOf(const std::vector<std::string>& lines, const std::string& program) {
  for (const std::string& line : lines)
    fmt::print(stderr, "octavo: warning: {}\n",
               base::printable(fmt::format("{}: {}", program, line)));
}

void warnOfMissedDots(const std::vector<transforms::MissedDots>& groups, const std::string& program,
                      bool fails) {
  std::vector<std::string> lines;
  for (const transforms::MissedDots& missed : groups)
    lines.push_back(missed.text());
  warnOf(lines, program);
  const std::size_t dots = transforms::countDots(groups);
  if (fails && dots > 0)
    throw CommandError(fmt::format("{}: {} dot{} wide values, though narrow ones are behind them",
                                   program, dots, dots == 1 ? " multiplies" : "s multiply"),
                       ExitCode::CheckFailed);
}

void warnOfMissedDots(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                      bool fails) {
  warnOfMissedDots(transforms::missedDots(module, function), program, fails);
}

void warnOfProgram(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                   bool failsOnMissed) {
  warnOf(transforms::scattersPartlyOutside(module), program);
  warnOfMissedDots(module, function, program, failsOnMissed);
}

void addFailOnMissed(CLI::App& command, bool& fails) {
  command.add_flag(
      "--fail-on-missed", fails,
      "Exit with 1, before anything is run or written, if a dot multiplies wide values that were "
      "made of FP8, MX or NVFP4 values");
}

} // namespace octavo::tools
