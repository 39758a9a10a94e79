// Removes quantizations whose results the program only dequantizes, and the computation of their
// scales. The pass octavo-drop-scales is this function, without inlining calls.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// A quantization and the user of its codes.
struct ScaleUse {
  mlir::Location location; ///< location of the quantization
  std::string scales;      ///< "8 scales, the outer scale"
  std::string taker = {};  ///< the operation that uses its codes; empty: none, the quantization was
                           ///< dropped
};

/// What dropScales found, in program order.
struct DropReport {
  std::vector<ScaleUse> quantizations;

  /// Number of quantizations that were dropped.
  std::int64_t dropped() const;
};

/// Drops the scales of a verified module. Calls are not inlined.
DropReport dropScales(mlir::ModuleOp module);

/// Drops the scales of a program after inlining its calls and fused dots. Calls that cannot be
/// inlined stay.
DropReport dropScalesOfProgram(mlir::ModuleOp program);

} // namespace octavo::transforms
