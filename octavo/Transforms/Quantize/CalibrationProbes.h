// Probes on what the dots of a program are given, for a calibration.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// What a probe passes on of a side of a dot. The left side of a convolution, whose dot is one of
/// patches, has two probes: one on the input, whose values count once each however many windows see
/// them, and one on the patches, whose columns are those of the dot.
struct CalibratedSide {
  enum class Part : std::uint8_t { Whole, Values, Columns };

  std::string dot;                       ///< as calibratedNames has it
  std::string side;                      ///< "lhs" or "rhs"
  std::vector<std::int64_t> contracting; ///< axes of the tensor; of Values none
  Part part = Part::Whole;
  std::size_t tensor = 0; ///< the number of the side: two probes of one side have the same
  /// Of Values: of each axis which places count; empty for an axis of which all do.
  std::vector<std::vector<bool>> seen = {};
};

struct CalibrationProbeOptions {
  /// Arguments whose name it finds (RE2) are weights, besides those marked octavo.parameter.
  std::string parameters;
  bool takesWeights = false; ///< they are probed, too
};

/// Adds a probe (interpreter.probe) on each side of a dot that is of f32, bf16 or f16 and no
/// weight, moved about at most, or a weight that is wanted; of a convolution's input two. The
/// error: `parameters` is no regular expression, or there is no side that is no weight. The number
/// in a probe's name (ProbeDots.h) is the place in what it gives.
llvm::Expected<std::vector<CalibratedSide>>
addCalibrationProbes(mlir::ModuleOp module, const CalibrationProbeOptions& options);

} // namespace octavo::transforms
