// Preparation of a program before it is compiled: the one place that orders recovering, quantizing
// and dropping.
#pragma once

#include "octavo/Transforms/Quantize/CalibrationProbes.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Recover/DropScales.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::session {

struct PreparationOptions {
  std::string function = {}; ///< empty: findFunction's
  /// Names of arguments that the caller binds: weights, whatever the program says of them.
  std::vector<std::string> weights = {};
  /// Makes products of scaled tensors of dots whose operands the program dequantizes.
  bool recoversScaled = false;
  /// Which dots are quantized, and how. Empty: none.
  std::optional<transforms::DotOptions> dots = {};
  /// Leaves tensors wide that the program only dequantizes again (transforms::dropScales).
  bool dropsScales = false;
  /// Passes the operands of dots to the probes of a run. Empty: no probes. Not beside `dots`.
  std::optional<transforms::CalibrationProbeOptions> probes = {};
};

/// What a preparation did. A report is empty if its step was not asked for.
struct Preparation {
  std::optional<transforms::RecoverReport> recovered;
  double recoverSeconds = 0;
  std::optional<transforms::DotReport> dots;
  double quantizeSeconds = 0;
  std::optional<transforms::DropReport> drops;
  std::vector<transforms::CalibratedSide> probes;
  std::vector<std::string> warnings; ///< one line each
  /// The program after `recovered` and before all that follows; null if `dots` were given.
  mlir::OwningOpRef<mlir::ModuleOp> unquantized;
};

/// Rewrites a verified program. Weights are marked first, since what is quantized depends on them;
/// dots are recovered before others are quantized, so that no dot is quantized twice; scales are
/// dropped after that, since a quantization that a product has taken over is no longer dequantized.
/// Fails as findFunction, markParameters, quantizeDots and addCalibrationProbes do.
llvm::Expected<Preparation> prepareProgram(mlir::ModuleOp program,
                                           const PreparationOptions& options);

} // namespace octavo::session
