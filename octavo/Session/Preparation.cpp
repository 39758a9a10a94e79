#include "octavo/Session/Preparation.h"

#include "octavo/Session/Binding/Program.h"
#include "octavo/Transforms/Recover/MissedDots.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

namespace octavo::session {

namespace {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

} // namespace

llvm::Expected<Preparation> prepareProgram(mlir::ModuleOp program,
                                           const PreparationOptions& options) {
  Preparation done;
  if (!options.weights.empty()) { // without weights, the function need not be named
    auto function = findFunction(program, options.function);
    if (!function)
      return function.takeError();
    if (llvm::Error error = markParameters(*function, options.weights))
      return std::move(error);
  }
  if (options.recoversScaled) {
    const Stopwatch time;
    done.recovered = transforms::recoverScaled(program);
    done.recoverSeconds = time.seconds();
    llvm::append_range(done.warnings, transforms::differingDots(*done.recovered));
  }
  if (options.dots) {
    const Stopwatch time;
    auto report = transforms::quantizeDots(program, *options.dots);
    if (!report)
      return report.takeError();
    done.dots = std::move(*report);
    done.quantizeSeconds = time.seconds();
    llvm::append_range(done.warnings, done.dots->leftCaches());
  } else {
    done.unquantized = program.clone();
  }
  if (options.dropsScales)
    done.drops = transforms::dropScalesOfProgram(program);
  if (options.probes) {
    auto probed = transforms::addCalibrationProbes(program, *options.probes);
    if (!probed)
      return probed.takeError();
    done.probes = std::move(*probed);
  }
  return done;
}

} // namespace octavo::session
