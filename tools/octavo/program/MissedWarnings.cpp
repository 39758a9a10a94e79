#include "tools/octavo/program/MissedWarnings.h"

#include "tools/octavo/Commands.h"

#include "octavo/Text/PrintableText.h"
#include "octavo/Transforms/MissedDots.h"

#include <fmt/format.h>

#include <cstdio>

namespace octavo::tools {

void warnOfMissedDots(mlir::ModuleOp module, llvm::StringRef function, const std::string& program,
                      bool fails) {
  std::size_t dots = 0;
  for (const transforms::MissedDots& missed : transforms::missedDots(module, function)) {
    fmt::print(stderr, "octavo: warning: {}\n",
               text::printable(fmt::format("{}: {}", program, missed.text())));
    dots += missed.dots.size();
  }
  if (fails && dots > 0)
    throw CommandError(fmt::format("{}: {} dot{} wide values, though narrow ones are behind them",
                                   program, dots, dots == 1 ? " multiplies" : "s multiply"),
                       ExitCode::CheckFailed);
}

} // namespace octavo::tools
