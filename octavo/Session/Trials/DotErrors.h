// What each quantized dot of a program loses, and how much of the program's error it causes.
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

/// What one dot did in the run of the quantized program. The sums are over all times that it ran.
struct DotError {
  transforms::DotRecord record;
  std::int64_t runs = 0; ///< of one that is quantized; 0: the run did not come by it
  /// Of the operands, left and right, as they came in this run; zeros where the dot is left. Of one
  /// that is not quantized, no error.
  std::array<analysis::QuantizationLoss, 2> sides;
  /// Of what it gave, against the same dot of the same operands without quantization.
  analysis::LossSums result;
  /// Of what it gave, against what it gives in the run of the program as it is: with the errors of
  /// the dots before it. No values where it did not run equally often in both.
  analysis::LossSums accumulated;
  /// 1 - E' / E (see DotErrors::error), where E' is the error with this dot alone left as it is.
  /// Negative where the program is farther from f32 then. None: the dot is left or did not run, E
  /// is 0, no output counts, or a NaN or Inf stands in one of the runs and not in the other.
  std::optional<double> share;
};

struct DotErrors {
  std::vector<DotError> dots; ///< of the whole module, in its order; left ones too
  transforms::DotGraph graph; ///< of the function, by the places in `dots`
  /// E: over the outputs of floats, the sum of (|quantized - unchanged| / |unchanged|)^2 in
  /// 2-norms; an output that is 0 throughout without quantization is left out. Errors that are
  /// independent add in it, so that their shares sum to 1; the shares of others need not. In a row
  /// of one element (session::hasRowsOfOne) errors of dots cancel or add by their signs alone, and
  /// leaving out one dot may make E a hundred times larger: such outputs are left out.
  double error = 0;
  std::int64_t counted = 0; ///< outputs that E is of
  std::int64_t rowsOfOne =
      0; ///< outputs of floats that are left out since their rows have one element
  std::int64_t nonFinite = 0; ///< elements of outputs that are NaN or Inf in one of the two alone

  std::int64_t quantized() const;
  /// Of those that there are.
  double sumOfShares() const;
};

struct DotErrorOptions {
  transforms::DotOptions dots;
  const Backend* backend = nullptr; ///< must be given
  program::RunContext host;         ///< of each run but for its probes and checks
  /// Told before each of so many runs, from 0.
  std::function<void(std::size_t run, std::size_t runs)> onRun;
};

/// Runs a function of a module without quantization, quantized, quantized with probes on its dots,
/// and once more for each quantized dot that runs. `values`, one an argument, are those of the
/// unchanged function. Besides them it holds a quantized copy of each weight, what one run takes,
/// for one dot at a time its result and 9 bytes for each element of an operand, and until the third
/// run is over, in f32, what each quantized dot gave in the first.
///
/// The error: no dot is quantized; scales are delayed or numbers random; the function is one for
/// several processes; what quantizeDots, the backend and the runs say.
llvm::Expected<DotErrors> dotErrors(mlir::func::FuncOp function,
                                    std::span<const program::Value> values,
                                    const DotErrorOptions& options);

} // namespace octavo::session
