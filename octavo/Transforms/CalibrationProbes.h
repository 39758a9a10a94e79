// Probes on what the dots of a program are given, for a calibration.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// A side of a dot whose values a probe passes on.
struct CalibratedSide {
  std::string dot;                       ///< as calibratedNames has it
  std::string side;                      ///< "lhs" or "rhs"
  std::vector<std::int64_t> contracting; ///< axes of the tensor
};

struct CalibrationProbeOptions {
  /// Arguments whose name it finds (RE2) are weights, besides those marked octavo.parameter.
  std::string parameters;
  bool takesWeights = false; ///< they are probed, too
};

/// Adds a probe (interpreter.probe) on each side of a dot that is of f32, bf16 or f16 and no
/// weight, moved about at most, or a weight that is wanted. The error: `parameters` is no regular
/// expression, or there is no side that is no weight. The number in a probe's name (ProbeDots.h) is
/// the side's place in what it gives.
llvm::Expected<std::vector<CalibratedSide>>
addCalibrationProbes(mlir::ModuleOp module, const CalibrationProbeOptions& options);

} // namespace octavo::transforms
