// Adds probes to the operands of dots, for a calibration.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// What a probe reports about a side of a dot. The left side of a convolution, whose dot multiplies
/// patches, has two probes: one on the input, where each value counts once however many windows see
/// it, and one on the patches, whose columns are those of the dot.
struct CalibratedSide {
  enum class Part : std::uint8_t { Whole, Values, Columns };

  std::string dot;                       ///< name of the dot, by calibratedNames
  std::string side;                      ///< "lhs" or "rhs"
  std::vector<std::int64_t> contracting; ///< contracted axes of the tensor; empty for Values
  Part part = Part::Whole;
  std::size_t tensor = 0; ///< number of the side; the two probes of one side share it
  /// For Values: which indices of each axis count; an empty list means all.
  std::vector<std::vector<bool>> seen = {};
};

/// Which sides addCalibrationProbes probes.
struct CalibrationProbeOptions {
  /// Regular expression (RE2): arguments with a match are weights, besides those marked
  /// octavo.parameter.
  std::string parameters;
  bool takesWeights = false; ///< weights are probed, too
};

/// Adds an interpreter.probe to each f32, bf16 or f16 side of a dot that is not a weight, or is one
/// and takesWeights; a convolution's left side gets two. The number in a probe's name (ProbeDots.h)
/// is the index in the result. Fails if `parameters` is not a regular expression, or no such side
/// is an activation; the module may have changed then.
llvm::Expected<std::vector<CalibratedSide>>
addCalibrationProbes(mlir::ModuleOp module, const CalibrationProbeOptions& options);

} // namespace octavo::transforms
