// The error of each quantized dot of a program, and its share of the program's error.
#pragma once

#include "octavo/Analysis/QuantizationLoss.h"
#include "octavo/Program/Values/Executable.h"
#include "octavo/Session/Backends.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Walks/DotGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::session {

/// What one dot did in the quantized run. Sums are over all executions of the dot.
struct DotError {
  transforms::DotRecord record;
  std::int64_t runs = 0; ///< executions, if the dot is quantized; 0: it was not reached
  /// Losses of the left and right operand in this run. Zeros if the dot is not quantized; no error
  /// for an operand that is not quantized.
  std::array<analysis::QuantizationLoss, 2> sides;
  /// Loss of its result, compared with the unquantized dot on the same operands.
  analysis::LossSums result;
  /// Loss of its result, compared with its result in the unquantized run, so including errors of
  /// earlier dots. Empty if it ran a different number of times there.
  analysis::LossSums accumulated;
  /// 1 - E' / E, where E is DotErrors::error and E' is that error with this dot alone unquantized.
  /// Negative if leaving the dot unquantized makes the error larger. nullopt if
  /// - the dot is not quantized or did not run,
  /// - E is 0 or no output counts, or
  /// - NaN or Inf occurs in only one of the runs.
  std::optional<double> share;
};

/// The errors of all dots, and of the program's outputs.
struct DotErrors {
  std::vector<DotError> dots; ///< all dots of the module, in order, including unquantized ones
  transforms::DotGraph graph; ///< the function's dots, by their indices in `dots`
  /// E: the sum over float outputs of (|quantized - unquantized| / |unquantized|)^2, in 2-norms.
  /// Independent errors add up in E, so their shares sum to 1; shares of other errors need not.
  /// Outputs that are zero throughout without quantization are left out. So are outputs whose rows
  /// have one element (session::hasRowsOfOne): there errors cancel or add by sign alone, and
  /// leaving out one dot may make E a hundred times larger.
  double error = 0;
  std::int64_t counted = 0;   ///< outputs that count in E
  std::int64_t rowsOfOne = 0; ///< float outputs left out because their rows have one element
  std::int64_t nonFinite = 0; ///< elements that are NaN or Inf in only one of the two runs

  std::int64_t quantized() const;
  /// The sum of all shares that exist.
  double sumOfShares() const;
};

/// How dots are quantized and runs are made.
struct DotErrorOptions {
  transforms::DotOptions dots;
  const Backend* backend = nullptr; ///< must be given
  program::RunContext host;         ///< for each run; its probes and checks are replaced
  /// Called before each run, with its index from 0 and the number of runs.
  std::function<void(std::size_t run, std::size_t runs)> onRun;
};

/// Runs a function unquantized, quantized, quantized with probes on its dots, and once more per
/// quantized dot that runs. `values`, one per argument, are those of the unquantized function.
///
/// Memory beyond `values`: a quantized copy of each weight; what one run takes; for one dot at a
/// time its result and 9 bytes per operand element; and until the third run ends, the f32 results
/// of all quantized dots of the first run.
///
/// Fails if no dot is quantized, if quantization adds state (caches, delayed scales, random
/// rounding), or if the function is for several processes. Errors of quantizeDots, the backend and
/// the runs are passed on.
llvm::Expected<DotErrors> dotErrors(mlir::func::FuncOp function,
                                    std::span<const program::Value> values,
                                    const DotErrorOptions& options);

} // namespace octavo::session
